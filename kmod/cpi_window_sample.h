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
 *   CPI_WINDOW_CELL(number)          union cpi_code_cell *, likewise
 *   CPI_WINDOW_READ_CODE(to, size, address)  reads a line of the program's memory, and
 *       what is behind it; 0, or it is not there
 *   CPI_WINDOW_UOP(ctx, ip)          as kmod/window.h wants it
 *   CPI_WINDOW_READ_DATA(ctx, to, size, address)  as CPI_WINDOW_READ() there
 *   CPI_WINDOW_NOW()                 monotonic time, ns
 *   CPI_WINDOW_READ_BARRIER(cpu)     later reads are not done before earlier ones
 *   CPI_WINDOW_IS_EXCLUDED()         whether the interrupted process must not be read:
 *       because of its cgroup, or because it has locked memory
 *   CPI_WINDOW_RUN(ctx)              steps, CPI_WINDOW_UOPS at most
 *   CPI_WINDOW_PUT(cpu, record)      0, or there was no room
 *   CPI_WINDOW_WITH_ORIGINS()        whether the CPU's state gets the window's origin
 *   CPI_WINDOW_FORM_AT(number)       struct cpi_form *, or NULL beyond them; if it is
 *       not defined, there are no forms
 *   CPI_WINDOW_NR_FORMS              the number of forms, a power of two
 *
 * and then calls cpi_window_take(), with the CPU's own state. An interrupt
 * during another's window gets no window, and is counted.
 *
 * The daemon may write its tables at any time. So each word is read once, and the
 * look-up macros above check each number that was read.
 */
#ifndef CPI_KMOD_CPI_WINDOW_SAMPLE_H
#define CPI_KMOD_CPI_WINDOW_SAMPLE_H

#include "abi/window_bpf.h"
#include "kmod/window_alu.h"
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
 * Finds the region that may contain pc, by bisection. It has no jump, because the
 * verifier would follow both ways of each. Both numbers are below 2^63, so the sign of
 * their difference compares them.
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

/* The first cell of pc's packed page, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_find_page(const struct cpi_window_process *p,
						uint64_t pc)
{
	struct cpi_window_entry *entry;
	uint32_t at, number;

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
	return CPI_WINDOW_ONCE(entry->cell);
}

/*
 * Returns the cell of pc's first micro-op in the lower half, and the first cell of its
 * page in the upper half; 0 if pc is not translated.
 */
static __attribute__((__noinline__)) uint64_t
cpi_window_find_code(const struct cpi_window_process *p, uint64_t pc)
{
	const uint32_t page = cpi_window_find_page(p, pc);
	union cpi_code_cell *cell = page ? CPI_WINDOW_CELL(page) : NULL;
	uint64_t bits, below = (1ULL << (pc / CPI_CODE_LINE % CPI_CODE_LINES)) - 1;
	uint32_t places, number;

	if (!cell)
		return 0;
	bits = CPI_WINDOW_ONCE(cell->head.lines);
	places = CPI_WINDOW_ONCE(cell->head.places);
	if (!(bits & (below + 1)))
		return 0;
	cell = CPI_WINDOW_CELL(page + 1 + cpi_count_bits(bits & below));
	if (!cell)
		return 0;
	bits = CPI_WINDOW_ONCE(cell->line.starts);
	below = (1ULL << (pc % CPI_CODE_LINE)) - 1;
	if (!(bits & (below + 1)))
		return 0;
	number = CPI_WINDOW_ONCE(cell->line.place) + cpi_count_bits(bits & below);
	cell = CPI_WINDOW_CELL(page + places + number / CPI_CODE_PLACES);
	if (!cell)
		return 0;
	number = CPI_WINDOW_ONCE(cell->place[number % CPI_CODE_PLACES]);
	return number ? (uint64_t)page << 32 | (uint32_t)(page + number) : 0;
}

static inline __attribute__((always_inline)) int
cpi_window_find(const struct cpi_window_following *f, uint64_t pc, uint32_t *ip,
		uint32_t *page)
{
	uint64_t found = 0;

	if (f->cpu->bare_page != pc / CPI_CODE_PAGE)
		found = cpi_window_find_code(f->process, pc);
	*ip = (uint32_t)found;
	*page = (uint32_t)(found >> 32);
	return !found;
}

/* The lead-in of pc, in the page that begins with a cell: its cell, or 0. */
static __attribute__((__noinline__)) uint32_t cpi_window_find_lead(uint32_t page,
								   uint64_t pc)
{
	union cpi_code_cell *cell = CPI_WINDOW_CELL(page);
	const uint64_t below = (1ULL << (pc / CPI_CODE_LINE % CPI_CODE_LINES)) - 1;
	uint32_t number, leads;

	if (!cell)
		return 0;
	cell = CPI_WINDOW_CELL(
		page + 1 + cpi_count_bits(CPI_WINDOW_ONCE(cell->head.lines) & below));
	if (!cell)
		return 0;
	leads = CPI_WINDOW_ONCE(cell->line.leads);
	number = cpi_count_bits(CPI_WINDOW_ONCE(cell->line.starts) &
				((1ULL << (pc % CPI_CODE_LINE)) - 1));
	if (number >= CPI_CODE_LEADS || !(leads >> number & 1))
		return 0;
	return page + CPI_WINDOW_ONCE(cell->line.lead) +
	       (uint32_t)cpi_count_bits(leads & ((1u << number) - 1));
}

#ifdef CPI_WINDOW_FORM_AT
/* ---- code that is not translated: forms (abi/form.h) ---- */

/* BPF verifies global functions alone, and once. */
#ifdef __bpf__
#define CPI_WINDOW_ALONE __attribute__((__noinline__))
#else
#define CPI_WINDOW_ALONE static __attribute__((__noinline__))
#endif

/* Unaligned; of the program's code. */
#ifdef __bpf__
#define CPI_WINDOW_PUT_WORD(at, word) (*(uint64_t *)(at) = (word))
#else
#define CPI_WINDOW_PUT_WORD(at, word) __builtin_memcpy(at, &(word), sizeof(word))
#endif

/*
 * Whether forms may interpret the code at pc: only if it is code of an image. Also
 * notes a page that is not translated at all, so that the look-up is not repeated.
 */
CPI_WINDOW_ALONE int cpi_window_is_formable(struct cpi_window_cpu *cpu,
					    const struct cpi_window_process *p,
					    uint64_t pc)
{
	const struct cpi_window_entry *entry;
	uint32_t at;

	if (!p || !cpu || pc > CPI_WINDOW_NOWHERE)
		return 0;
	at = cpi_window_find_region(p, pc);
	if (pc < p->start[at] || pc >= p->region[at].end || p->region[at].made)
		return 0;
	cpu->form_page = pc / CPI_CODE_PAGE;
	entry = CPI_WINDOW_ENTRY(p->region[at].first +
				 (uint32_t)((pc - p->start[at]) / CPI_CODE_PAGE));
	if (entry && !CPI_WINDOW_ONCE(entry->cell))
		cpu->bare_page = cpu->form_page;
	return 1;
}

/* Reads a line of code, and what is behind it if that is there. */
CPI_WINDOW_ALONE int cpi_window_read_line(struct cpi_window_cpu *cpu, uint64_t line)
{
	if (!cpu)
		return 0;
	cpu->line = line;
	cpu->page = 0;
	cpu->has = sizeof(cpu->code);
	if (!CPI_WINDOW_READ_CODE(cpu->code, sizeof(cpu->code), line))
		return 0;
	cpu->has = CPI_CODE_LINE;
	if (CPI_WINDOW_READ_CODE(cpu->code, CPI_CODE_LINE, line))
		cpu->has = 0;
	return 0;
}

/* The entry of a key: its number + 1, or 0. */
CPI_WINDOW_ALONE uint32_t cpi_window_find_entry(const struct cpi_window_cpu *cpu)
{
	uint32_t first, i;

	if (!cpu)
		return 0;
	first = cpi_form_set(cpu->parts.key, CPI_WINDOW_NR_FORMS);
	for (i = 0; i < CPI_FORM_WAYS; i++) {
		const struct cpi_form *form = CPI_WINDOW_FORM_AT(first + i);

		if (form && form->key[0] == cpu->parts.key[0] &&
		    form->key[1] == cpu->parts.key[1] &&
		    !(CPI_WINDOW_ONCE(form->how) & CPI_FORM_DYING))
			return first + i + 1;
	}
	return 0;
}

/* Splits the instruction at an offset of the line. Returns its length, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_split(struct cpi_window_cpu *cpu, uint32_t offset)
{
	const uint32_t word = offset / 8 & 7, skip = 8 * (offset & 7);
	const uint64_t next = cpu->code[word + 1];
	const uint64_t low = cpu->code[word] >> skip | next << 1 << (63 - skip);
	const uint64_t high = next >> skip | cpu->code[word + 2] << 1 << (63 - skip);
	const uint32_t length = cpi_form_split(&cpu->parts, low, high);
	uint32_t at = cpu->state.window.nr_code;

	CPI_WINDOW_HIDE(at);
	if (at > CPI_WINDOW_CODE || !length || offset + length > cpu->has)
		return 0;
	CPI_WINDOW_PUT_WORD((uint8_t *)cpu->trace + at, low);
	CPI_WINDOW_PUT_WORD((uint8_t *)cpu->trace + at + 8, high);
	return length;
}

/*
 * Returns the form's micro-ops as cpi_window_find_form() does. Since its key was
 * compared, the daemon may have reused the entry for another form. So the key is
 * compared again after the reads.
 */
CPI_WINDOW_INLINE uint64_t cpi_window_take_form(struct cpi_window_cpu *cpu,
						struct cpi_form *form)
{
	const uint32_t nr = CPI_WINDOW_ONCE(form->nr);
	const uint32_t cell = CPI_WINDOW_ONCE(form->cell);

	cpu->how = CPI_WINDOW_ONCE(form->how);
	CPI_WINDOW_READ_BARRIER(cpu);
	if (!nr || CPI_WINDOW_ONCE(form->key[0]) != cpu->parts.key[0] ||
	    CPI_WINDOW_ONCE(form->key[1]) != cpu->parts.key[1])
		return CPI_WINDOW_NO_CODE;
	if (!form->used)
		form->used = 1;
	return (uint64_t)nr << 32 | cell;
}

/*
 * The form of the instruction at pc: in the upper half the number of its micro-ops, in
 * the lower half the first one's cell. If that number is 0, the rest is the end of the
 * window.
 */
CPI_WINDOW_ALONE uint64_t cpi_window_find_form(struct cpi_window_cpu *cpu,
					       const struct cpi_window_process *p,
					       uint64_t pc)
{
	const uint64_t line = pc & ~(CPI_CODE_LINE - 1ULL);
	struct cpi_form *form;
	uint32_t found;

	if (!cpu || (cpu->form_page != pc / CPI_CODE_PAGE &&
		     !cpi_window_is_formable(cpu, p, pc)))
		return CPI_WINDOW_NO_CODE;
	if (cpu->state.window.nr_code > CPI_WINDOW_CODE - CPI_FORM_BYTES)
		return CPI_WINDOW_LENGTH; /* the record has no room for its code */
	if (cpu->line != line || cpu->page)
		cpi_window_read_line(cpu, line);
	if (!cpi_window_split(cpu, pc & (CPI_CODE_LINE - 1)))
		return CPI_WINDOW_NO_CODE;
	found = cpi_window_find_entry(cpu);
	form = found ? CPI_WINDOW_FORM_AT(found - 1) : NULL;
	if (form && form->how & CPI_FORM_CONSTANT) {
		cpi_form_add_constant(&cpu->parts);
		found = cpi_window_find_entry(cpu);
		form = found ? CPI_WINDOW_FORM_AT(found - 1) : NULL;
	}
	if (!form) {
		cpu->state.window.lacks_form = 1;
		return CPI_WINDOW_NO_CODE;
	}
	return cpi_window_take_form(cpu, form);
}

CPI_WINDOW_INLINE uint32_t cpi_window_form(const struct cpi_window_following *f,
					   uint64_t pc, uint32_t *ip, uint32_t *nr)
{
	const uint64_t found = cpi_window_find_form(f->cpu, f->process, pc);

	*ip = (uint32_t)found;
	*nr = (uint32_t)(found >> 32);
	return *nr ? 0 : *ip;
}

#define CPI_WINDOW_FORM(ctx, pc, ip, nr) cpi_window_form(ctx, pc, ip, nr)

/* A copy of a micro-op, filled if it is a form's. */
CPI_WINDOW_INLINE const struct cpi_uop *
cpi_window_fill(const struct cpi_window_following *f, const struct cpi_uop *u)
{
	struct cpi_window_cpu *cpu = f->cpu;

	if (!u)
		return NULL;
	if (f->state->form_end)
		cpi_form_fill(u, cpu->how, &cpu->parts, &cpu->filled);
	else
		cpu->filled = *u;
	return &cpu->filled;
}
#endif

/* ---- whether code is still what was translated ---- */

/* A bit for each byte in which two words differ. */
CPI_WINDOW_INLINE uint32_t cpi_window_differ(uint64_t a, uint64_t b)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7fULL, x = a ^ b;
	const uint64_t top = ((x & low7) + low7) | x;

	return (top >> 7 & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56;
}

/* The first cell of the bytes of a line of a page, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_find_bytes(uint32_t page, uint64_t line)
{
	union cpi_code_cell *head = CPI_WINDOW_CELL(page);
	uint64_t lines;
	const uint64_t bit = 1ULL << (line / CPI_CODE_LINE % CPI_CODE_LINES);

	if (!head)
		return 0;
	lines = CPI_WINDOW_ONCE(head->head.lines);
	if (!(lines & bit))
		return 0;
	return page + CPI_WINDOW_ONCE(head->head.bytes) +
	       CPI_CODE_LINE_CELLS * cpi_count_bits(lines & (bit - 1));
}

/*
 * Compares a line of the program's code with the line that was translated. The page
 * after the line may not be present. Then an instruction that crosses into it counts as
 * changed.
 */
static __attribute__((__noinline__)) int
cpi_window_compare_line(struct cpi_window_cpu *cpu, uint32_t page, uint64_t line)
{
	const uint32_t bytes = cpi_window_find_bytes(page, line);
	uint64_t differ = 0;
	uint32_t i, part = 0, alone;

	if (!cpu)
		return 0;
	cpu->line = line;
	cpu->page = page;
	cpu->differ = ~0ULL;
	cpu->differ_behind = ~0u;
	alone = CPI_WINDOW_READ_CODE(cpu->code, sizeof(cpu->code), line) != 0;
	if (!bytes || (alone && CPI_WINDOW_READ_CODE(cpu->code, CPI_CODE_LINE, line)))
		return 0;
	CPI_WINDOW_UNROLL
	for (i = 0; i < CPI_CODE_LINE_CELLS; i++) {
		const union cpi_code_cell *cell = CPI_WINDOW_CELL(bytes + i);

		if (!cell)
			return 0;
		part = cpi_window_differ(cpu->code[2 * i], cell->word[0]) |
		       cpi_window_differ(cpu->code[2 * i + 1], cell->word[1]) << 8;
		if (i < CPI_CODE_LINE_CELLS - 1)
			differ |= (uint64_t)part << 16 * i;
	}
	cpu->differ = differ;
	if (!alone)
		cpu->differ_behind = part;
	return 0;
}

/*
 * Whether the code differs from the code that was translated: because of a breakpoint,
 * because the program or a debugger wrote over it, or because a JIT compiler put
 * another procedure there.
 */
CPI_WINDOW_INLINE int cpi_window_changed_at(const struct cpi_window_following *f,
					    uint32_t page, uint64_t pc, uint32_t length)
{
	struct cpi_window_cpu *cpu = f->cpu;
	const uint64_t line = pc & ~(CPI_CODE_LINE - 1ULL);
	const uint32_t offset = pc & (CPI_CODE_LINE - 1), end = offset + length;

	if (cpu->line != line || cpu->page != page)
		cpi_window_compare_line(cpu, page, line);
	if (cpu->differ >> offset & ((1u << (length & 31)) - 1))
		return 1;
	return end > CPI_CODE_LINE &&
	       cpu->differ_behind & ((1u << ((end - CPI_CODE_LINE) & 31)) - 1);
}

#define CPI_WINDOW_CHANGED_AT(ctx, base, pc, length) \
	cpi_window_changed_at(ctx, base, pc, length)
CPI_WINDOW_INLINE const struct cpi_uop *
cpi_window_lead(const struct cpi_window_following *f, uint64_t pc, uint32_t page)
{
	const uint32_t cell = cpi_window_find_lead(page, pc);
	const struct cpi_uop *u = cell ? CPI_WINDOW_UOP(f, cell) : NULL;

	if (!u || u->op != CPI_UOP_LEAD || cpi_lead_offset(u) != pc % CPI_CODE_PAGE)
		return NULL;
	return u;
}

/* ---- origins ---- */

/* The state with which a window begins. */
CPI_WINDOW_INLINE void cpi_window_note_origin(struct cpi_window_cpu *cpu)
{
	struct cpi_window_origin *o = &cpu->origin;

	if (!CPI_WINDOW_WITH_ORIGINS())
		return;
	__builtin_memcpy(o->reg, cpu->state.reg, sizeof(o->reg));
	o->thread = cpu->state.reg[CPI_REG_THREAD];
	o->unknown_thread = cpu->state.unknown[CPI_REG_THREAD];
	o->flags = cpu->state.flags;
	o->nr_loads = 0;
	o->failed[0] = 0;
	o->failed[1] = 0;
}

CPI_WINDOW_INLINE void cpi_window_note_load(struct cpi_window_origin *o, uint64_t value,
					    int failed)
{
	uint32_t nr = o->nr_loads;

	CPI_WINDOW_HIDE(nr);
	if (nr >= CPI_WINDOW_LOADS)
		return;
	o->load[nr] = value;
	o->failed[nr >> 6 & 1] |= (uint64_t)failed << (nr & 63);
	o->nr_loads = (uint16_t)(nr + 1);
}

CPI_WINDOW_INLINE int cpi_window_read(const struct cpi_window_following *f,
				      uint64_t *to, uint32_t size, uint64_t address)
{
	const int failed = CPI_WINDOW_READ_DATA(f, to, size, address) != 0;

	if (CPI_WINDOW_WITH_ORIGINS())
		cpi_window_note_load(&f->cpu->origin, *to, failed);
	return failed;
}

#define CPI_WINDOW_READ(ctx, to, size, address) cpi_window_read(ctx, to, size, address)

#define CPI_WINDOW_LEAD(ctx, pc, base)        cpi_window_lead(ctx, pc, base)
#define CPI_WINDOW_CONTEXT                    const struct cpi_window_following *
#define CPI_WINDOW_RESOLVE(ctx, pc, ip, base) cpi_window_find(ctx, pc, ip, base)
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

/*
 * Whether it found at the end what it began with (abi/window_bpf.h, I3). The daemon
 * changes a process in daemon/windows/windowprocs.c:
 *
 *	the daemon (begin_change, end_change)	a window
 *
 *	stores an odd sequence			reads the sequence: even
 *	fence (A)				read barrier (B)
 *	changes regions and pages		reads regions and pages
 *	stores an even sequence: release (B)	read barrier (A)
 *						reads the sequence: the same
 *
 * A: a window that has read a change then finds another sequence. B: a window that
 * begins with the new sequence reads all of the change.
 */
CPI_WINDOW_INLINE int cpi_window_follow(struct cpi_window_cpu *cpu,
					struct cpi_window_process *p,
					const struct cpi_window_who *who,
					const CPI_WINDOW_REGS *regs)
{
	struct cpi_window_following f = { cpu, &cpu->state, p };
	const uint32_t sequence = CPI_WINDOW_ONCE(p->sequence);

	CPI_WINDOW_READ_BARRIER(cpu);
	cpu->record.sequence = sequence;
	cpu->line = CPI_WINDOW_NOWHERE;
	cpu->form_page = CPI_WINDOW_NOWHERE;
	cpu->bare_page = CPI_WINDOW_NOWHERE;
	cpi_window_begin(&cpu->state, CPI_WINDOW_INSTRUCTIONS, CPI_WINDOW_USER_READS);
	cpi_window_set_registers(&cpu->state, regs, who->thread);
	cpi_window_note_origin(cpu);
	if (!cpi_window_start(&cpu->state, &f, who->pc))
		CPI_WINDOW_RUN(&f);
	cpi_window_finish(&cpu->state);
	if (!p->used)
		p->used = 1;
	CPI_WINDOW_READ_BARRIER(cpu);
	return !(sequence & 1) && sequence == CPI_WINDOW_ONCE(p->sequence);
}

/*
 * Makes a window of the interrupted process if it may be read. A process that is not in
 * the table gets a record without a window, so that the daemon learns of it.
 */
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
