// SPDX-License-Identifier: GPL-2.0-only
/*
 * stepped.bpf.c - windows, and a signal to the thread that was followed
 *
 * It gets it before its next instruction: what it steps through then (t/stepper.c) is
 * what the window has told.
 */
#include "kmod/cpi_window.bpf.c"

#include "t/stepped.h"

/* Of whose windows there are records: not the strangers, nor those that were lost. */
static __always_inline uint64_t nr_followed(const struct cpi_window_cpu *cpu)
{
	return cpu->counts.recorded - cpu->counts.strangers;
}

SEC("perf_event")
int cpi_stepped(struct bpf_perf_event_data *ctx)
{
	const uint32_t number = bpf_get_smp_processor_id();
	struct cpi_window_cpu *cpu = bpf_map_lookup_elem(&cpi_window_cpus, &number);
	uint64_t before;

	if (!cpu)
		return 0;
	before = nr_followed(cpu);
	take_sample(ctx, cpu, NULL); /* and no pair */
	if (nr_followed(cpu) != before)
		bpf_send_signal_thread(STEPPED_SIGNAL);
	return 0;
}
