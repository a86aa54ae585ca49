// SPDX-License-Identifier: GPL-2.0-only
/*
 * nmi.c - cpi.ko whose counters are NMIs that a thread sends
 *
 * An emulated x86 machine has no PMU, so the handler would never be an NMI
 * there. This module is all of cpi.ko with the perf counters replaced: the
 * overflow interrupt is a real NMI, which comes at any moment, also during the
 * flush's IPIs and in the handler's own code. Only for tests.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/kthread.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>

struct counter {
	struct perf_event event; /* what the handler reads of it */
	perf_overflow_handler_t handler;
	int cpu;
	u64 count;
};

static struct counter *active[NR_CPUS];
static int sent[NR_CPUS];
static unsigned long nr_genuine[NR_CPUS];
static struct task_struct *sender[NR_CPUS];

static struct pmu nmi_pmu = { .task_ctx_nr = perf_hw_context };

static struct perf_event *nmi_create(struct perf_event_attr *attr, int cpu,
				     struct task_struct *task,
				     perf_overflow_handler_t handler, void *context)
{
	struct counter *c;

	if (attr->type != PERF_TYPE_RAW || attr->config != 0x4e4d49)
		return ERR_PTR(-ENOENT);
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->cpu = cpu;
	c->handler = handler;
	c->event.pmu = &nmi_pmu;
	c->event.overflow_handler_context = context;
	return &c->event;
}

static struct counter *counter_of(struct perf_event *event)
{
	return container_of(event, struct counter, event);
}

static void nothing(void *unused)
{
}

static void nmi_enable(struct perf_event *event)
{
	WRITE_ONCE(active[counter_of(event)->cpu], counter_of(event));
}

/* The IPI comes back when no NMI that saw the counter is in progress. */
static void nmi_disable(struct perf_event *event)
{
	int cpu = counter_of(event)->cpu;

	WRITE_ONCE(active[cpu], NULL);
	smp_call_function_single(cpu, nothing, NULL, 1);
}

static int nmi_release(struct perf_event *event)
{
	nmi_disable(event);
	kfree(counter_of(event));
	return 0;
}

static u64 nmi_read(struct perf_event *event, u64 *enabled, u64 *running)
{
	*enabled = 0;
	*running = 0;
	return counter_of(event)->count;
}

static int nmi_period(struct perf_event *event, u64 period)
{
	return 0;
}

#define perf_event_create_kernel_counter nmi_create
#define perf_event_enable                nmi_enable
#define perf_event_disable               nmi_disable
#define perf_event_release_kernel        nmi_release
#define perf_event_read_value            nmi_read
#define perf_event_period                nmi_period
/* cpi_main.c's own entry points become ordinary functions. */
#pragma push_macro("module_init")
#pragma push_macro("module_exit")
#undef module_init
#undef module_exit
#define module_init(function)
#define module_exit(function)
#undef __exit /* loading calls it, too, when it fails */
#define __exit
#include "kmod/cpi_follow.c"
#include "kmod/cpi_handler.c"
#include "kmod/cpi_buffer.c"
#include "kmod/cpi_flush.c"
#include "kmod/cpi_config.c"
#include "kmod/cpi_counter.c"
#include "kmod/cpi_window.c"
#include "kmod/cpi_main.c"
#pragma pop_macro("module_init")
#pragma pop_macro("module_exit")

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	int cpu = smp_processor_id();
	struct counter *c;

	if (!xchg(&sent[cpu], 0))
		return NMI_DONE;
	c = READ_ONCE(active[cpu]);
	if (c) {
		nr_genuine[cpu] += in_nmi() != 0;
		c->count += c->event.hw.sample_period;
		c->handler(&c->event, NULL, regs);
	}
	return NMI_HANDLED;
}

/* To all CPUs but this one: an NMI to itself would sample the sender. */
static void send_once(void)
{
	int cpu;

	for_each_online_cpu (cpu) {
		if (cpu != raw_smp_processor_id() && READ_ONCE(active[cpu]) &&
		    !xchg(&sent[cpu], 1))
			apic->send_IPI(cpu, NMI_VECTOR);
	}
}

/* Some at a time: sleeping takes an emulator far longer than it should. */
static int send(void *unused)
{
	while (!kthread_should_stop()) {
		cpus_read_lock();
		for (int i = 0; i < 8; i++) {
			send_once();
			udelay(get_random_u32() & 31);
		}
		cpus_read_unlock();
		usleep_range(50, 50 + (get_random_u32() & 511));
	}
	return 0;
}

static void stop_senders(void)
{
	int cpu;

	for_each_possible_cpu (cpu) {
		if (sender[cpu])
			kthread_stop(sender[cpu]);
	}
}

static int start_senders(void)
{
	struct task_struct *task;
	int cpu;

	for_each_online_cpu (cpu) {
		task = kthread_run_on_cpu(send, NULL, cpu, "cpi_nmi/%u");
		if (IS_ERR(task)) {
			stop_senders();
			return PTR_ERR(task);
		}
		sender[cpu] = task;
	}
	return 0;
}

static int __init cpi_nmi_init(void)
{
	int err = cpi_init();

	if (err)
		return err;
	err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "cpi_nmi");
	if (err)
		goto fail;
	err = start_senders();
	if (!err)
		return 0;
	unregister_nmi_handler(NMI_LOCAL, "cpi_nmi");
fail:
	cpi_exit();
	return err;
}

static void cpi_nmi_exit(void)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < nr_cpu_ids; i++)
		sum += nr_genuine[i];
	stop_senders();
	unregister_nmi_handler(NMI_LOCAL, "cpi_nmi");
	cpi_exit();
	pr_info("cpi_nmi: %lu samples in NMI context\n", sum);
}

module_init(cpi_nmi_init);
module_exit(cpi_nmi_exit);
