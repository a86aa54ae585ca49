// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_handler.c - what happens at a counter's overflow
 *
 * Runs in NMI context if the counter's interrupt is an NMI, else with interrupts off.
 * It takes no lock, needs no barrier between CPUs, and writes only this CPU's own cache
 * lines; a hit touches the counter's line and the bucket's (SOSP'97 section 4.2.2). As
 * in DCPI there are specialised versions of the handler, so that unused features cost
 * no test.
 *
 * A table has one writer. Hardware counters never interrupt each other, nor do clocks,
 * but a counter may interrupt a clock or the other way round. If both are configured,
 * guarded versions are used, which count such a sample as nested and lose it. Both
 * handlers run on the same CPU, so compiler barriers suffice:
 *
 *	sample()				a sample that interrupts it
 *
 *	busy = 1
 *	barrier			->	sees 1	(the table is in use: nested)
 *	change the table
 *	barrier
 *	busy = 0		->	sees 0	(the table is whole)
 */
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/timex.h>

#include "kmod/cpi.h"
#include "kmod/cpi_compat.h"

DEFINE_STATIC_KEY_FALSE(cpi_timed);

/*
 * The process, and which incarnation of it: the exec id is the generation. A tgid may
 * be used again, even with the same exec id. User space tells such processes apart by
 * its record of forks and exits. The start time would do so, too, but reading it would
 * cost a hit another cache line.
 */
static __always_inline u64 who_is(const struct task_struct *task)
{
	return (u32)task->tgid | (u32)task->self_exec_id << CPI_TGID_BITS;
}

/* Anything but a hit. */
static noinline void miss(struct cpi_counter *c, struct cpi_bucket *b, u64 word0,
			  u64 who)
{
	struct cpi_cpu *cpu = c->cpu;
	enum cpi_table_result result;

	if (unlikely(c->direct)) {
		const struct cpi_entry e = { word0, who | 1ULL << CPI_COUNT_SHIFT };

		result = cpi_table_spill(&cpu->table, &e);
		cpu->tallies.direct++;
	} else {
		result = cpi_table_miss(&cpu->table, b, word0, who);
		if (result == CPI_TABLE_INSERT)
			cpu->tallies.inserts++;
		else if (result != CPI_TABLE_HIT)
			cpu->tallies.evictions++;
	}
	if (result == CPI_TABLE_FILLED) {
		cpu->tallies.wakeups++;
		irq_work_queue(&cpu->wake);
	}
}
NOKPROBE_SYMBOL(miss);

static noinline void count_cycles(struct cpi_cpu *cpu, bool hit, cycles_t cycles)
{
	if (hit) {
		cpu->tallies.hit_cycles += cycles;
		cpu->tallies.nr_timed_hits++;
	} else {
		cpu->tallies.miss_cycles += cycles;
		cpu->tallies.nr_timed_misses++;
	}
}
NOKPROBE_SYMBOL(count_cycles);

static __always_inline u64 outcome_of(struct cpi_counter *c, struct pt_regs *regs)
{
	enum cpi_outcome outcome = cpi_arch_outcome(regs);

	if (unlikely(outcome == CPI_OUTCOME_UNREADABLE))
		c->cpu->tallies.unreadable++;
	return (u64)outcome << (CPI_PC_BITS + CPI_EVENT_BITS);
}

/* Returns whether it was a hit, or nested: anything but a miss. */
static __always_inline bool sample(struct perf_event *event, struct pt_regs *regs,
				   bool outcome, bool guarded)
{
	struct cpi_counter *c = event->overflow_handler_context;
	struct cpi_bucket *b;
	u64 word0, who;
	bool hit;

	c->received++;
	cpi_period_draw(&c->period, event);
	if (guarded) {
		if (c->cpu->busy) {
			c->nested++;
			return true;
		}
		WRITE_ONCE(c->cpu->busy, 1);
		barrier(); /* see the top */
	}
	word0 = c->word0 | (instruction_pointer(regs) & ((1ULL << CPI_PC_BITS) - 1));
	if (outcome)
		word0 |= outcome_of(c, regs);
	who = who_is(current);
	b = &c->buckets[cpi_table_hash(word0, who) & c->mask];
	hit = likely(!c->direct) && likely(cpi_table_hit(b, word0, who));
	if (!hit)
		miss(c, b, word0, who);
	if (guarded) {
		barrier();
		WRITE_ONCE(c->cpu->busy, 0);
	}
	return hit;
}

static __always_inline void timed_sample(struct perf_event *event, struct pt_regs *regs,
					 bool outcome, bool guarded)
{
	struct cpi_counter *c = event->overflow_handler_context;
	cycles_t begun = get_cycles();
	bool hit = sample(event, regs, outcome, guarded);

	count_cycles(c->cpu, hit, get_cycles() - begun);
}

#define DEFINE_HANDLER(name, outcome, guarded)                                    \
	static noinline void name##_timed(struct perf_event *event,               \
					  struct pt_regs *regs)                   \
	{                                                                         \
		timed_sample(event, regs, outcome, guarded);                      \
	}                                                                         \
	NOKPROBE_SYMBOL(name##_timed);                                            \
	static void name(struct perf_event *event, struct perf_sample_data *data, \
			 struct pt_regs *regs)                                    \
	{                                                                         \
		if (static_branch_unlikely(&cpi_timed))                           \
			name##_timed(event, regs);                                \
		else                                                              \
			sample(event, regs, outcome, guarded);                    \
	}                                                                         \
	NOKPROBE_SYMBOL(name)

DEFINE_HANDLER(handle, false, false);
DEFINE_HANDLER(handle_outcome, true, false);
DEFINE_HANDLER(handle_guarded, false, true);
DEFINE_HANDLER(handle_outcome_guarded, true, true);

perf_overflow_handler_t cpi_handler_choose(bool outcome, bool guarded)
{
	static const perf_overflow_handler_t handlers[2][2] = {
		{ handle, handle_guarded },
		{ handle_outcome, handle_outcome_guarded },
	};

	return handlers[outcome][guarded];
}
