/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpi_window_sample.h - turns an interrupt into a window or a named loss
 *
 * One header for the BPF program and the kernel module. It finds the interrupted
 * process and its code in the tables that the daemon writes (abi/window_bpf.h), follows
 * the process with kmod/window.h, and accounts for the result. The includer defines,
 * before it includes this:
 *
 *   CPI_WINDOW_REGS                  the type of the saved registers
 *   CPI_WINDOW_PROCESS(number)       struct cpi_window_process *, or NULL beyond them
 *   CPI_WINDOW_ENTRY(number)         struct cpi_window_entry *, likewise
 *   CPI_WINDOW_CODE(slot)            struct cpi_code_page *, likewise
 *   CPI_WINDOW_BYTES(slot)           struct cpi_code_bytes *, likewise
 *   CPI_WINDOW_READ_LINE(to, address)  fills the array with the program's memory; 0, or
 *       it is not there
 *   CPI_WINDOW_UOP(ctx, ip)          as kmod/window.h wants it
 *   CPI_WINDOW_READ(ctx, to, size, address)  likewise
 *   CPI_WINDOW_NOW()                 monotonic time, ns
 *   CPI_WINDOW_IS_EXCLUDED()         whether the cgroup of who was interrupted is
 *   CPI_WINDOW_RUN(ctx)              steps, CPI_WINDOW_UOPS at most
 *   CPI_WINDOW_PUT(cpu, record)      0, or there was no room
 *
 * and then calls cpi_window_take(), with the CPU's own state. An interrupt amid
 * another's window loses its own, and is counted.
 *
 * What the daemon may write at any time is read once, and each number that is read is
 * checked by those who look things up by it.
 */
#ifndef CPI_KMOD_CPI_WINDOW_SAMPLE_H
#define CPI_KMOD_CPI_WINDOW_SAMPLE_H

#include "abi/window_bpf.h"
#include "kmod/window_memory.h"
#include "kmod/cpi_window_registers.h"

/* Reads what others write, once. */
#define CPI_WINDOW_ONCE(at) (*(const volatile __typeof__(at) *)&(at))

/* What a window is followed with. */
struct cpi_window_following {
	struct cpi_window_cpu *cpu;
	struct cpi_window_state *state; /* that CPU's */
	struct cpi_window_process *process;
};

/* Who was interrupted, and where. */
struct cpi_window_who {
	uint64_t started_ns;
	uint64_t thread; /* CPI_REG_THREAD */
	uint64_t pc;
	uint32_t exec_id;
	uint32_t tgid;
	uint32_t tid;
	uint32_t compat; /* in 32-bit code */
};

/*
 * The region that may hold pc, by bisection. Without a jump, which the verifier would
 * go both ways of; both numbers are below 2^63.
 */
static inline __attribute__((always_inline)) uint32_t
cpi_window_find_region(const struct cpi_window_process *p, uint64_t pc)
{
	uint32_t at = 0, step;

	CPI_WINDOW_UNROLL
	for (step = CPI_WINDOW_REGIONS / 2; step; step /= 2) {
		uint32_t middle = at + step;

		CPI_WINDOW_HIDE(middle);
		at += ((p->start[middle & (CPI_WINDOW_REGIONS - 1)] - pc - 1) >> 63) *
		      step;
	}
	CPI_WINDOW_HIDE(at);
	return at & (CPI_WINDOW_REGIONS - 1);
}

/* Where pc's micro-ops are; 0 is nowhere. */
static __attribute__((__noinline__)) uint32_t
cpi_window_find_code(const struct cpi_window_process *p, uint64_t pc)
{
	struct cpi_window_entry *entry;
	struct cpi_code_page *code;
	uint32_t at, number, slot, place;

	if (!p || pc > CPI_WINDOW_NOWHERE)
		return 0;
	at = cpi_window_find_region(p, pc);
	if (pc < p->start[at] || pc >= p->region[at].end)
		return 0;
	number = p->region[at].first + (uint32_t)((pc - p->start[at]) / CPI_CODE_PAGE);
	entry = CPI_WINDOW_ENTRY(number);
	if (!entry)
		return 0;
	if (!entry->used)
		entry->used = 1;
	slot = CPI_WINDOW_ONCE(entry->slot);
	code = slot ? CPI_WINDOW_CODE(slot) : NULL;
	if (!code)
		return 0;
	place = CPI_WINDOW_ONCE(code->index[pc & (CPI_CODE_PAGE - 1)]);
	return place ? cpi_uop_ip(slot, place - 1) : 0;
}

static inline __attribute__((always_inline)) int
cpi_window_find(const struct cpi_window_following *f, uint64_t pc, uint32_t *ip)
{
	*ip = cpi_window_find_code(f->process, pc);
	return !*ip;
}

/* Of any alignment; clang makes eight loads of a copy for BPF, whose JITs need one. */
static inline __attribute__((always_inline)) uint64_t cpi_window_word(const uint8_t *at)
{
#ifdef __bpf__
	return *(const uint64_t *)at;
#else
	uint64_t word;

	__builtin_memcpy(&word, at, sizeof(word));
	return word;
#endif
}

/* Whether size bytes, up to 16, differ. */
static inline __attribute__((always_inline)) int
cpi_window_differ(const uint8_t *a, const uint8_t *b, uint32_t size)
{
	const uint32_t others = (64 - 8 * (size & 7)) & 63;
	const uint64_t first = cpi_window_word(a) ^ cpi_window_word(b);

	if (size < 8)
		return first << others != 0;
	return first != 0 ||
	       (size > 8 &&
		(cpi_window_word(a + 8) ^ cpi_window_word(b + 8)) << others != 0);
}

/* Where the process's code at pc is now: 16 bytes; NULL if it is not there. */
static inline __attribute__((always_inline)) const uint8_t *
cpi_window_code_now(const struct cpi_window_following *f, uint64_t pc, uint32_t length)
{
	struct cpi_window_cpu *cpu = f->cpu;
	const uint64_t line = pc & ~(CPI_WINDOW_LINE - 1ULL);
	const uint8_t *code = (const uint8_t *)cpu->code;
	const uint8_t *at = code + (pc & (CPI_WINDOW_LINE - 1));

	if (cpu->line == line)
		return at;
	cpu->line = line;
	if (!CPI_WINDOW_READ_LINE(cpu->code, line))
		return at;
	cpu->line = CPI_WINDOW_NOWHERE;
	return CPI_WINDOW_READ(f, cpu->code, length, pc) ? NULL : code;
}

/*
 * Other code may be there than was translated: a breakpoint, what a program or its
 * debugger has written over, another procedure of a compiler at run time.
 */
static inline __attribute__((always_inline)) int
cpi_window_changed_at(const struct cpi_window_following *f, uint32_t ip, uint64_t pc,
		      uint32_t length)
{
	const struct cpi_code_bytes *code = CPI_WINDOW_BYTES(ip >> CPI_UOP_INDEX_BITS);
	const uint8_t *now = cpi_window_code_now(f, pc, length);

	if (!code || !now)
		return 1;
	return cpi_window_differ(now, &code->byte[pc & (CPI_CODE_PAGE - 1)], length);
}

#define CPI_WINDOW_CHANGED_AT(ctx, ip, pc, length) \
	cpi_window_changed_at(ctx, ip, pc, length)
#define CPI_WINDOW_CONTEXT              const struct cpi_window_following *
#define CPI_WINDOW_RESOLVE(ctx, pc, ip) cpi_window_find(ctx, pc, ip)
#include "kmod/window.h"

/* The number of the process; CPI_WINDOW_PROCESSES: it is not there. */
CPI_WINDOW_INLINE uint32_t cpi_window_find_process(const struct cpi_window_who *who)
{
	const uint32_t first = cpi_window_set(who->tgid) * CPI_WINDOW_WAYS;
	uint32_t found = CPI_WINDOW_PROCESSES, i;

	for (i = first; i < first + CPI_WINDOW_WAYS; i++) {
		const struct cpi_window_process *p = CPI_WINDOW_PROCESS(i);

		if (p && p->tgid == who->tgid && p->exec_id == who->exec_id &&
		    p->started_ns == who->started_ns)
			found = i;
	}
	return found;
}

CPI_WINDOW_INLINE void cpi_window_note_time(struct cpi_window_counts *counts,
					    uint64_t ns)
{
	uint32_t class = cpi_window_time_class(ns);

	counts->nr_timed++;
	counts->sum_ns += ns;
	if (ns > counts->max_ns)
		counts->max_ns = ns;
	if (class < CPI_WINDOW_TIMES)
		counts->nr_by_time[class]++;
}

CPI_WINDOW_INLINE void cpi_window_drop(struct cpi_window_cpu *cpu,
				       enum cpi_window_drop why)
{
	cpu->counts.dropped[why]++;
}

/* Whether it found at the end what it began with (abi/window_bpf.h, I3). */
CPI_WINDOW_INLINE int cpi_window_follow(struct cpi_window_cpu *cpu,
					struct cpi_window_process *p,
					const struct cpi_window_who *who,
					const CPI_WINDOW_REGS *regs)
{
	struct cpi_window_following f = { cpu, &cpu->state, p };
	const uint32_t sequence = CPI_WINDOW_ONCE(p->sequence);

	cpu->record.sequence = sequence;
	cpu->line = CPI_WINDOW_NOWHERE;
	cpi_window_begin(&cpu->state, CPI_WINDOW_INSTRUCTIONS, CPI_WINDOW_USER_READS);
	cpi_window_set_registers(&cpu->state, regs, who->thread);
	if (!cpi_window_start(&cpu->state, &f, who->pc))
		CPI_WINDOW_RUN(&f);
	cpi_window_finish(&cpu->state);
	if (!p->used)
		p->used = 1;
	return !(sequence & 1) && sequence == CPI_WINDOW_ONCE(p->sequence);
}

/* Follows who was interrupted, where that may be; tells of who is not known yet. */
CPI_WINDOW_INLINE void cpi_window_sample(struct cpi_window_cpu *cpu,
					 const struct cpi_window_who *who,
					 const CPI_WINDOW_REGS *regs)
{
	const uint64_t now_ns = CPI_WINDOW_NOW();
	struct cpi_window_record *r = &cpu->record;
	struct cpi_window_process *p;
	int whole = 1;

	if (CPI_WINDOW_IS_EXCLUDED()) {
		cpi_window_drop(cpu, CPI_WINDOW_DROP_EXCLUDED);
		return;
	}
	r->started_ns = who->started_ns;
	r->exec_id = who->exec_id;
	r->process = cpi_window_find_process(who);
	p = CPI_WINDOW_PROCESS(r->process);
	if (p && p->excluded) {
		cpi_window_drop(cpu, CPI_WINDOW_DROP_EXCLUDED);
		return;
	}
	if (p)
		whole = cpi_window_follow(cpu, p, who, regs);
	else
		__builtin_memset(&cpu->state.window, 0, sizeof(cpu->state.window));
	r->window = cpu->state.window;
	r->window.start = who->pc;
	r->window.time = now_ns;
	r->window.tgid = who->tgid;
	r->window.tid = who->tid;
	if (whole)
		cpu->counts.strangers += !p;
	if (!whole)
		cpi_window_drop(cpu, CPI_WINDOW_DROP_STALE);
	else if (CPI_WINDOW_PUT(cpu, r))
		cpi_window_drop(cpu, CPI_WINDOW_DROP_RING);
	else
		cpu->counts.recorded++;
	if (p)
		cpi_window_note_time(&cpu->counts, CPI_WINDOW_NOW() - now_ns);
}

/* Of a sample in user mode. */
CPI_WINDOW_INLINE void cpi_window_take(struct cpi_window_cpu *cpu,
				       const struct cpi_window_who *who,
				       const CPI_WINDOW_REGS *regs)
{
	cpu->counts.received++;
	if (who->compat) {
		cpi_window_drop(cpu, CPI_WINDOW_DROP_COMPAT);
		return;
	}
	if (CPI_WINDOW_ONCE(cpu->busy)) {
		cpi_window_drop(cpu, CPI_WINDOW_DROP_NESTED);
		return;
	}
	*(volatile uint32_t *)&cpu->busy = 1;
	cpi_window_sample(cpu, who, regs);
	*(volatile uint32_t *)&cpu->busy = 0;
}

#endif
