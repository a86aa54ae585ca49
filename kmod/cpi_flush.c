// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_flush.c - taking samples away from the handler
 *
 * SOSP'97 section 4.2.3. A step runs on the CPU whose samples it takes, by IPI;
 * seal.h says why an NMI in the middle of it does no harm. The table is swept on the
 * CPU of the caller. Meanwhile the counters' direct flag keeps the handler away from
 * it. The swept entries go to the idle buffer, which was taken before. The IPIs are the
 * barriers:
 *
 *	flush_table()			the CPU whose table it is
 *
 *	IPI			->	begin_sweep() sets direct
 *	the IPI returns		<-	the handler is off the table
 *	sweep the table
 *	IPI			->	end_sweep() clears direct; the buckets are free
 *	the IPI returns
 *
 * One flush of a table is a series of calls, each of which hands out a buffer:
 *
 *	draining	what is in the idle buffer; else as sweeping
 *	sweeping	as much of the table as fits into the buffer, until no
 *			bucket is left
 *	swapping	the active buffer: evicted or diverted during the sweep
 *
 * A flush ends even if the handler fills buffers as fast as they are read: after each
 * buffer that the handler filled, the flush sweeps a part of the table.
 */
#include <linux/compiler.h>
#include <linux/smp.h>

#include "kmod/cpi.h"
#include "kmod/seal.h"

enum action {
	GIVE_BACK,     /* only take the buffer back that user space had */
	TAKE_FULL,     /* and hand out one that is full */
	TAKE_ANY,      /* or, by swapping, the active one */
	TAKE_TO_SWEEP, /* or, empty, the idle one */
	KEEP_TO_SWEEP, /* the buffer that user space had */
};

struct step {
	struct cpi_cpu *cpu;
	enum action action;
	u32 nr; /* out: entries in cpu->taken */
};

static void set_direct(struct cpi_cpu *cpu, bool direct)
{
	for (u32 i = 0; i < cpi.config.nr_events; i++)
		WRITE_ONCE(cpu->counter[i].direct, direct);
}

static void begin_sweep(struct step *s)
{
	struct cpi_cpu *cpu = s->cpu;
	unsigned int which;

	s->nr = 0;
	if (s->action == TAKE_TO_SWEEP) {
		if (cpu->taken >= 0)
			cpi_seal_release(&cpu->table, cpu->taken);
		s->nr = cpi_seal_take_idle(&cpu->table, &which);
		cpu->taken = which;
	}
	if (!s->nr)
		set_direct(cpu, true);
}

static void take_buffers(void *data)
{
	struct step *s = data;
	struct cpi_cpu *cpu = s->cpu;
	unsigned int which;

	if (s->action == TAKE_TO_SWEEP || s->action == KEEP_TO_SWEEP) {
		begin_sweep(s);
		return;
	}
	s->nr = 0;
	if (cpu->taken >= 0)
		cpi_seal_release(&cpu->table, cpu->taken);
	cpu->taken = -1;
	if (s->action == GIVE_BACK)
		return;
	s->nr = cpi_seal_take(&cpu->table, s->action == TAKE_ANY, &which);
	if (s->nr)
		cpu->taken = which;
}

static void end_sweep(void *data)
{
	struct step *s = data;

	set_direct(s->cpu, false);
}

/*
 * Runs a step on the CPU whose handler it excludes. The caller holds cpi.lock, so a CPU
 * with counters cannot go offline. A CPU without counters runs no handler, so its step
 * may run here.
 */
static void run_step(struct step *s, void (*step)(void *))
{
	if (smp_call_function_single(s->cpu->number, step, s, 1))
		step(s);
}

/*
 * The IPI that set the flag has returned, so the handler is off the table; the
 * one that clears it runs after the last store here. smp_call_function_single()
 * orders both.
 */
static u32 sweep(struct cpi_cpu *cpu)
{
	struct cpi_overflow *o = &cpu->table.overflow[cpu->taken];

	return cpi_seal_sweep(&cpu->table, &cpu->cursor, o->entries, o->cap);
}

static u32 flush_table(struct cpi_cpu *cpu)
{
	struct step s = { .cpu = cpu, .action = TAKE_TO_SWEEP };

	if (cpu->phase == CPI_SWAPPING) {
		cpu->phase = CPI_DRAINING;
		s.action = GIVE_BACK;
		run_step(&s, take_buffers);
		return 0;
	}
	if (cpu->phase == CPI_SWEEPING && cpu->taken >= 0)
		s.action = KEEP_TO_SWEEP;
	run_step(&s, take_buffers);
	if (s.nr) {
		cpu->phase = CPI_SWEEPING;
		return s.nr;
	}
	cpu->phase = CPI_DRAINING;
	s.nr = sweep(cpu);
	run_step(&s, end_sweep);
	if (s.nr)
		return s.nr;
	cpu->cursor = 0;
	s.action = TAKE_ANY;
	run_step(&s, take_buffers);
	if (s.nr)
		cpu->phase = CPI_SWAPPING;
	return s.nr;
}

bool cpi_flush_is_due(const struct cpi_cpu *cpu)
{
	for (int i = 0; i < 2; i++) {
		const struct cpi_overflow *o = &cpu->table.overflow[i];

		if (i != cpu->taken && READ_ONCE(o->nr) >= o->cap)
			return true;
	}
	return false;
}

int cpi_flush(struct cpi_kmod_flush *f)
{
	struct step s = { .action = TAKE_FULL };

	if (f->depth > CPI_KMOD_TABLE || f->cpu >= nr_cpu_ids)
		return -EINVAL;
	if (!cpi.config.nr_events || !cpi.cpus[f->cpu])
		return -ENXIO;
	s.cpu = cpi.cpus[f->cpu];
	if (f->depth == CPI_KMOD_TABLE)
		s.nr = flush_table(s.cpu);
	else if (s.cpu->taken >= 0 || cpi_flush_is_due(s.cpu))
		run_step(&s, take_buffers);
	f->nr = s.nr;
	f->buffer = s.nr ? s.cpu->taken : 0;
	return 0;
}
