/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of an interrupt, with arrays for the tables: each sample is a record or
 * a loss by name, and whatever the tables hold, nothing beyond them is asked for.
 */
#include "config.h"

#include <string.h>

#include "abi/window_bpf.h"
#include "analysis/windows/codepack.h"
#include "analysis/windows/walk.h"
#include "t/unit/unit.h"

#define __TARGET_ARCH_x86 /* whose names the registers here have */

#define NR_ENTRIES 64
#define NR_CELLS   4096
#define NR_FORMS   16
#define PACKED     32 /* where the page is */
#define PID        4711
#define CODE       0x400000ULL

struct registers {
	uint64_t ax, cx, dx, bx, sp, bp, si, di, r8, r9, r10, r11, r12, r13, r14, r15,
		flags, ip, cs;
};

static struct {
	struct cpi_window_process process[CPI_WINDOW_PROCESSES];
	struct cpi_window_entry entry[NR_ENTRIES];
	union cpi_code_cell cell[NR_CELLS];
	struct cpi_window_cpu cpu;
	struct cpi_window_record record;
	struct cpi_code_page page;
	uint32_t nr_records, room;
	uint8_t code[CPI_CODE_PAGE + 2 * CPI_CODE_LINE]; /* at CODE */
	uint32_t nr_code;
	bool excluded, changes;
	int changes_at, nr_barriers; /* the barrier with which a change ends; 0: none */
	struct cpi_form form[NR_FORMS];
	int reused_at,
		nr_looks; /* the look at a form before which it becomes another */
	bool with_origins;
	uint64_t data_end; /* data are below */
} t;

static int put(const struct cpi_window_record *r)
{
	if (!t.room)
		return -1;
	t.room--;
	t.record = *r;
	t.nr_records++;
	return 0;
}

static const struct cpi_uop *uop_at(uint32_t ip)
{
	return ip < NR_CELLS ? &t.cell[ip].uop : NULL;
}

static int read_code(void *to, uint32_t size, uint64_t address)
{
	if (address < CODE || address - CODE + size > t.nr_code)
		return -1;
	memcpy(to, t.code + (address - CODE), size);
	return 0;
}

static uint64_t datum(uint64_t address)
{
	return ~address * 3;
}

static int read_data(uint64_t *to, uint32_t size, uint64_t address)
{
	const uint64_t value = datum(address);

	if (address + size > t.data_end)
		return -1;
	memcpy(to, &value, size);
	return 0;
}

/* An entry may be cleared and used anew between any two looks at it. */
static struct cpi_form *form_at(uint32_t number)
{
	static const struct cpi_form other = { { 1, 2 }, 3, 4, 1, 0, 0 };

	if (number >= NR_FORMS)
		return NULL;
	if (t.form[number].key[1] && ++t.nr_looks == t.reused_at)
		t.form[number] = other;
	return &t.form[number];
}

static void barrier(void);

struct cpi_window_following;
static void run(const struct cpi_window_following *f);

#define CPI_WINDOW_REGS struct registers
#define CPI_WINDOW_PROCESS(number) \
	((number) < CPI_WINDOW_PROCESSES ? &t.process[number] : NULL)
#define CPI_WINDOW_ENTRY(number)                     ((number) < NR_ENTRIES ? &t.entry[number] : NULL)
#define CPI_WINDOW_CELL(number)                      ((number) < NR_CELLS ? &t.cell[number] : NULL)
#define CPI_WINDOW_READ_CODE(to, size, address)      read_code(to, size, address)
#define CPI_WINDOW_UOP(ctx, ip)                      uop_at(ip)
#define CPI_WINDOW_READ_DATA(ctx, to, size, address) read_data(to, size, address)
#define CPI_WINDOW_WITH_ORIGINS()                    t.with_origins
#define CPI_WINDOW_READ_BARRIER(cpu)                 barrier()
#define CPI_WINDOW_NOW()                             0
#define CPI_WINDOW_IS_EXCLUDED()                     t.excluded
#define CPI_WINDOW_RUN(ctx)                          run(ctx)
#define CPI_WINDOW_PUT(cpu, r)                       put(r)
#define CPI_WINDOW_FORM_AT(number)                   form_at(number)
#define CPI_WINDOW_NR_FORMS                          NR_FORMS
#include "kmod/cpi_window_sample.h"

static void run(const struct cpi_window_following *f)
{
	if (t.changes)
		f->process->sequence += 2;
	for (int i = 0; i < CPI_WINDOW_UOPS; i++) {
		if (cpi_window_step(f->state, f))
			return;
	}
}

static const struct cpi_window_who whom = {
	.started_ns = 99, .pc = CODE, .exec_id = 3, .tgid = PID, .tid = PID + 1
};

/* One process, one page, which is a jump to itself. */
static void set_up(void)
{
	struct cpi_window_process *p =
		&t.process[cpi_window_set(PID) * CPI_WINDOW_WAYS + 2];

	memset(&t, 0, sizeof(t));
	t.room = 1;
	for (int i = 0; i < CPI_WINDOW_REGIONS; i++)
		p->start[i] = CPI_WINDOW_NOWHERE;
	p->tgid = PID;
	p->exec_id = whom.exec_id;
	p->started_ns = whom.started_ns;
	p->start[0] = CODE;
	p->region[0].end = CODE + CPI_CODE_PAGE;
	p->region[0].first = 5;
	t.nr_code = sizeof(t.code);
	t.page.index[0] = 1;
	t.page.uop[0] = (struct cpi_uop){ .op = CPI_UOP_JMP, .address = 1 };
	codepack_page(&t.page, 1, t.code, sizeof(t.code), &t.cell[PACKED]);
	t.entry[5].cell = PACKED;
}

static struct cpi_window_process *process(void)
{
	return &t.process[cpi_window_set(PID) * CPI_WINDOW_WAYS + 2];
}

static void barrier(void)
{
	if (++t.nr_barriers == t.changes_at)
		process()->sequence += 2;
}

static uint64_t nr_dropped(void)
{
	uint64_t n = 0;

	for (int i = 0; i < CPI_WINDOW_NR_DROPS; i++)
		n += t.cpu.counts.dropped[i];
	return n;
}

static void sample(const struct cpi_window_who *who)
{
	static const struct registers none;

	cpi_window_take(&t.cpu, who, &none);
	ck_assert_uint_eq(t.cpu.counts.received, t.cpu.counts.recorded + nr_dropped());
	ck_assert_uint_eq(t.cpu.counts.recorded, t.nr_records);
}

START_TEST(who_is_entered_is_followed)
{
	set_up();
	sample(&whom);
	ck_assert_uint_eq(t.nr_records, 1);
	ck_assert_uint_eq(t.record.window.nr, CPI_WINDOW_INSTRUCTIONS);
	ck_assert_uint_eq(t.record.window.end, CPI_WINDOW_LENGTH);
	ck_assert_uint_eq(t.record.window.start, CODE);
	ck_assert_uint_eq(t.record.window.tid, whom.tid);
	ck_assert(process()->used && t.entry[5].used);
	ck_assert_uint_eq(t.cpu.counts.nr_timed, 1);
	ck_assert_int_eq(t.nr_barriers, 2);
}
END_TEST

static int find_packed(void *ctx, uint64_t address, struct walk_code *out)
{
	(void)ctx;
	return walk_find_in_packed(address / CPI_CODE_PAGE == CODE / CPI_CODE_PAGE
					   ? &t.cell[PACKED]
					   : NULL,
				   address % CPI_CODE_PAGE, out);
}

/*
 * A loop of so many instructions that touch data, each the same, and an indirect jump
 * back or a direct one.
 */
static void set_up_loop(uint32_t nr, bool indirect)
{
	set_up();
	memset(t.page.index, 0, sizeof(t.page.index));
	for (uint32_t i = 0; i < nr; i++) {
		t.page.index[i] = (uint16_t)(i + 1);
		t.page.uop[i] = (struct cpi_uop){
			.op = CPI_UOP_NOP,
			.dst = CPI_REG_NONE,
			.address = CPI_REG_X86_RSP | 6 << 6, /* rsi */
			.disp = (int32_t)i,
		};
	}
	t.page.index[nr] = (uint16_t)(nr + 1);
	t.page.uop[nr] = indirect
				 ? (struct cpi_uop){ .op = CPI_UOP_JMPI,
						     .flags = CPI_UOP_SRC_IMM |
							      3 << CPI_UOP_SOURCE_SHIFT,
						     .imm = CODE }
				 : (struct cpi_uop){ .op = CPI_UOP_JMP,
						     .address = 1,
						     .disp = -(int32_t)nr };
	codepack_page(&t.page, nr + 1, t.code, sizeof(t.code), &t.cell[PACKED]);
}

/*
 * What a record has room for: never a target less, and of words the first ones. Loops
 * of 1 to 40 accesses a round, with a direct and an indirect jump.
 */
START_TEST(data_take_the_room_that_targets_leave)
{
	const uint32_t per_round = (uint32_t)_i / 2 + 1;
	const struct registers regs = { .sp = 0xabc00000000 + 0x1000, .si = 0x200 };
	const struct cpi_window *w = &t.record.window;
	struct walk walk;

	set_up_loop(per_round, _i % 2);
	cpi_window_take(&t.cpu, &whom, &regs);
	ck_assert_uint_eq(t.nr_records, 1);
	if (_i % 2)
		ck_assert(w->end == CPI_WINDOW_TARGETS_FULL || w->nr_targets < 28);
	ck_assert_uint_eq(walk_window(w, find_packed, NULL, NULL, &walk), 0);
	ck_assert_uint_eq(walk.nr_accesses + walk.nr_left_out,
			  w->nr - w->nr / (per_round + 1));
	ck_assert_uint_eq(walk.nr, w->nr_targets + (_i % 2 ? 0 : walk.nr));
	ck_assert(!walk.nr_left_out ||
		  walk.nr_accesses + 2 * w->nr_targets + 2 >= CPI_WINDOW_DATA);
	for (uint32_t i = 0; i < w->nr_targets; i++)
		ck_assert_uint_eq(w->target[i], CODE);
	for (uint32_t i = 0; i < walk.nr_accesses; i++) {
		ck_assert_uint_eq(walk.access[i].at, CODE + i % per_round);
		ck_assert_uint_eq(walk.access[i].data, 0x1200 + i % per_round);
	}
}
END_TEST

/* A loop that loads one word after the other, from rsi on. */
static void set_up_loads(void)
{
	set_up();
	t.page.index[0] = 1;
	t.page.index[1] = 2;
	t.page.index[2] = 3;
	t.page.uop[0] = (struct cpi_uop){
		.op = CPI_UOP_MOV,
		.address = 6 | CPI_REG_ZERO << 6 | 3 << 14,
		.flags = CPI_UOP_SRC_MEM | 3 << CPI_UOP_SOURCE_SHIFT,
	};
	t.page.uop[1] = (struct cpi_uop){ .op = CPI_UOP_ADD,
					  .dst = 6,
					  .left = 6,
					  .address = 3 << 14,
					  .flags = CPI_UOP_SRC_IMM,
					  .imm = 8 };
	t.page.uop[2] = (struct cpi_uop){ .op = CPI_UOP_JMP, .address = 1, .disp = -2 };
	codepack_page(&t.page, 3, t.code, sizeof(t.code), &t.cell[PACKED]);
}

/* Up to a load that fails, or to none (0), with origins or without. */
static const struct {
	uint32_t fails;
	bool with_origins;
} loads[] = { { 0, true }, { 1, true }, { 20, true }, { 0, false }, { 20, false } };

START_TEST(an_origin_has_the_registers_and_the_loads_of_its_window)
{
	const struct registers regs = { .si = 0x1000, .ax = 77, .flags = 0x246 };
	const uint32_t all = (CPI_WINDOW_INSTRUCTIONS + 2) / 3;
	const uint32_t nr = loads[_i].fails ? loads[_i].fails : all;
	const struct cpi_window_origin *o = &t.cpu.origin;

	set_up_loads();
	t.with_origins = loads[_i].with_origins;
	t.data_end = regs.si + 8 * (loads[_i].fails ? loads[_i].fails - 1 : all);
	cpi_window_take(&t.cpu, &whom, &regs);
	ck_assert_uint_eq(t.record.window.end,
			  loads[_i].fails ? CPI_WINDOW_FAULT : CPI_WINDOW_LENGTH);
	ck_assert_uint_eq(o->nr_loads, loads[_i].with_origins ? nr : 0);
	if (!loads[_i].with_origins)
		return;
	ck_assert_uint_eq(o->reg[0], regs.ax);
	ck_assert_uint_eq(o->reg[6], regs.si);
	ck_assert_uint_eq(o->flags, regs.flags);
	for (uint32_t i = 0; i + !!loads[_i].fails < nr; i++)
		ck_assert_uint_eq(o->load[i], datum(regs.si + 8 * (uint64_t)i));
	ck_assert_uint_eq(o->failed[0], loads[_i].fails ? 1ULL << (nr - 1) : 0);
	ck_assert_uint_eq(o->failed[1], 0);
}
END_TEST

/* More loads than a window can make are not noted, wherever the number comes from. */
START_TEST(an_origin_has_room_for_so_many_loads)
{
	struct cpi_window_cpu *cpu = &t.cpu;

	set_up();
	memset(cpu, 0, sizeof(*cpu));
	for (uint32_t i = 0; i < CPI_WINDOW_LOADS + 5; i++)
		cpi_window_note_load(&cpu->origin, i + 1, i % 2);
	ck_assert_uint_eq(cpu->origin.nr_loads, CPI_WINDOW_LOADS);
	ck_assert_uint_eq(cpu->origin.load[CPI_WINDOW_LOADS - 1], CPI_WINDOW_LOADS);
	ck_assert_uint_eq(cpu->origin.failed[1], 0xaaaaaaaaaaaaaaaaULL);
	ck_assert_uint_eq(cpu->state.reg[0], 0);
	ck_assert_uint_eq(cpi_window_origin_bytes(&cpu->origin), sizeof(cpu->origin));
	cpu->origin.nr_loads = UINT16_MAX; /* as another might write it */
	ck_assert_uint_eq(cpi_window_origin_bytes(&cpu->origin), sizeof(cpu->origin));
}
END_TEST

/* The slots of a ring are apart, and inside it. */
START_TEST(a_slot_has_room_for_what_it_holds)
{
	static uint64_t memory[4096];
	struct cpi_window_ring *ring = (void *)memory;
	const uint32_t bytes = cpi_window_slot_bytes(_i);
	const char *first = (char *)cpi_window_slot(ring, 0, 4, bytes);
	struct cpi_window_record *last = cpi_window_slot(ring, 7, 4, bytes);

	ck_assert_ptr_eq(first, (char *)(ring + 1));
	ck_assert_ptr_eq((char *)last, first + 3 * (size_t)bytes);
	ck_assert_ptr_eq(cpi_window_slot(ring, 8, 4, bytes), first);
	ck_assert_uint_eq(bytes % 8, 0);
	if (_i)
		ck_assert_ptr_eq((char *)(cpi_window_slot_origin(last) + 1),
				 first + 4 * (size_t)bytes);
	else
		ck_assert_ptr_eq((char *)(last + 1), first + 4 * (size_t)bytes);
}
END_TEST

/* An instruction of so many bytes, and the one byte that is other code now. */
static const struct {
	uint32_t at, length, other;
	uint32_t nr_code; /* 0: all */
	bool changed;
} codes[] = {
	{ 0, 1, 0, 0, true },
	{ 0, 1, 1, 0, false },
	{ 0, 15, 14, 0, true },
	{ 20, 3, 22, 0, true },
	{ 20, 3, 19, 0, false },
	{ 20, 3, 23, 0, false },
	{ 63, 1, 63, 0, true },
	{ 63, 1, 64, 0, false },
	{ 60, 15, 74, 0, true },
	{ 60, 15, 75, 0, false },
	{ 63, 2, 64, 0, true },
	/* The last line of what is mapped: what goes on behind it is not there. */
	{ 4090, 6, 0, CPI_CODE_PAGE, false },
	{ 4090, 7, 0, CPI_CODE_PAGE, true },
	{ 4090, 6, 4095, CPI_CODE_PAGE, true },
	{ 4090, 6, 0, CPI_CODE_PAGE - 1, true },
};

START_TEST(other_code_than_was_translated_ends_it)
{
	struct cpi_window_who who = whom;

	set_up();
	who.pc += codes[_i].at;
	memset(t.page.index, 0, sizeof(t.page.index));
	t.page.index[codes[_i].at] = 1;
	t.page.uop[0].flags =
		(uint16_t)((codes[_i].length - 1) << CPI_UOP_LENGTH_SHIFT);
	for (size_t i = 0; i < sizeof(t.code); i++)
		t.code[i] = (uint8_t)(i * 7);
	codepack_page(&t.page, 1, t.code, sizeof(t.code), &t.cell[PACKED]);
	t.code[codes[_i].other] ^= 1 << _i % 8;
	if (codes[_i].nr_code)
		t.nr_code = codes[_i].nr_code;
	sample(&who);
	ck_assert_uint_eq(t.nr_records, 1);
	ck_assert_uint_eq(t.record.window.end,
			  codes[_i].changed ? CPI_WINDOW_CHANGED : CPI_WINDOW_LENGTH);
	ck_assert_uint_eq(t.record.window.nr,
			  codes[_i].changed ? 0 : CPI_WINDOW_INSTRUCTIONS);
}
END_TEST

static const struct {
	uint32_t tgid, exec_id;
	uint64_t started_ns;
} strangers[] = { { PID + 1, 3, 99 }, { PID, 4, 99 }, { PID, 3, 98 } };

START_TEST(who_is_another_is_told_of_and_not_followed)
{
	struct cpi_window_who who = whom;

	set_up();
	who.tgid = strangers[_i].tgid;
	who.exec_id = strangers[_i].exec_id;
	who.started_ns = strangers[_i].started_ns;
	sample(&who);
	ck_assert_uint_eq(t.nr_records, 1);
	ck_assert_uint_eq(t.record.process, CPI_WINDOW_PROCESSES);
	ck_assert_uint_eq(t.record.window.nr, 0);
	ck_assert_uint_eq(t.cpu.counts.nr_timed, 0);
}
END_TEST

static void be_excluded(void)
{
	process()->excluded = 1;
}

static void be_in_excluded_cgroup(void)
{
	t.excluded = true;
}

static void be_changing(void)
{
	process()->sequence = 1;
}

static void change(void)
{
	t.changes = true;
}

static void be_full(void)
{
	t.room = 0;
}

static void be_busy(void)
{
	t.cpu.busy = 1;
}

/* The first read of the sequence is before a barrier, and the last one after one. */
static void change_at_the_first_barrier(void)
{
	t.changes_at = 1;
}

static void change_at_the_last_barrier(void)
{
	t.changes_at = 2;
}

static const struct {
	void (*so)(void);
	enum cpi_window_drop why;
} drops[] = {
	{ be_excluded, CPI_WINDOW_DROP_EXCLUDED },
	{ be_in_excluded_cgroup, CPI_WINDOW_DROP_EXCLUDED },
	{ be_changing, CPI_WINDOW_DROP_STALE },
	{ change, CPI_WINDOW_DROP_STALE },
	{ change_at_the_first_barrier, CPI_WINDOW_DROP_STALE },
	{ change_at_the_last_barrier, CPI_WINDOW_DROP_STALE },
	{ be_full, CPI_WINDOW_DROP_RING },
	{ be_busy, CPI_WINDOW_DROP_NESTED },
};

START_TEST(what_is_lost_has_a_name)
{
	set_up();
	drops[_i].so();
	sample(&whom);
	ck_assert_uint_eq(t.nr_records, 0);
	ck_assert_uint_eq(t.cpu.counts.dropped[drops[_i].why], 1);
	ck_assert_uint_eq(t.cpu.busy, drops[_i].so == be_busy);
}
END_TEST

START_TEST(compat_code_is_told_by_the_selector_alone)
{
	const struct registers compat = { .cs = 0x23 }, wide = { .cs = 0x33 },
			       fred = { .cs = 0x3a00020023 };

	ck_assert(cpi_window_is_compat(&compat));
	ck_assert(cpi_window_is_compat(&fred));
	ck_assert(!cpi_window_is_compat(&wide));
}
END_TEST

START_TEST(compat_code_is_not_followed)
{
	struct cpi_window_who who = whom;

	set_up();
	who.compat = 1;
	sample(&who);
	ck_assert_uint_eq(t.cpu.counts.dropped[CPI_WINDOW_DROP_COMPAT], 1);
}
END_TEST

/* The entry of an address, or none. */
static uint32_t look(const struct cpi_window_process *p, uint64_t pc)
{
	for (int i = 0; i < CPI_WINDOW_REGIONS; i++) {
		const uint64_t page =
			p->region[i].first + (pc - p->start[i]) / CPI_CODE_PAGE;

		if (p->start[i] <= pc && pc < p->region[i].end)
			return page < NR_ENTRIES ? (uint32_t)page : NR_ENTRIES;
	}
	return NR_ENTRIES;
}

/* Instructions at random offsets, some of them of several micro-ops. */
static uint32_t fill_page(uint64_t *random)
{
	const uint32_t density = 1 + unit_random(random) % 200;
	uint32_t nr = 0;

	memset(&t.page, 0, sizeof(t.page));
	for (uint32_t i = 0; i < CPI_CODE_PAGE && nr + 3 < CPI_UOPS_PER_PAGE; i++) {
		if (unit_random(random) % density)
			continue;
		t.page.uop[nr].disp = (int32_t)i;
		t.page.index[i] = (uint16_t)(nr + 1);
		nr += 1 + unit_random(random) % 3;
	}
	return nr;
}

/* Whether it is the code of an offset; CPI_CODE_PAGE: that no page has. */
static bool is_right(uint64_t found, uint32_t offset)
{
	const uint32_t at = (uint32_t)found;

	if (offset == CPI_CODE_PAGE || !t.page.index[offset])
		return !found;
	return found >> 32 == PACKED && t.cell[at].uop.disp == (int32_t)offset &&
	       at - PACKED == codepack_find(&t.cell[PACKED], offset);
}

/* Regions in order, as the daemon has them: the code is the one that a search finds. */
START_TEST(code_is_found_where_it_is)
{
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t random = seed | 1, at = 0;
	struct cpi_window_process *p = &t.process[0];
	uint32_t nr = 1 + unit_random(&random) % CPI_WINDOW_REGIONS;

	memset(&t, 0, sizeof(t));
	for (uint32_t i = 0; i < CPI_WINDOW_REGIONS; i++) {
		at += (unit_random(&random) % 8) * CPI_CODE_PAGE;
		p->start[i] = i < nr ? at : CPI_WINDOW_NOWHERE;
		at += (1 + unit_random(&random) % 4) * CPI_CODE_PAGE;
		p->region[i].end = i < nr ? at : 0;
		p->region[i].first = unit_random(&random) % (NR_ENTRIES + 8);
	}
	codepack_page(&t.page, fill_page(&random), NULL, 0, &t.cell[PACKED]);
	for (uint32_t i = 0; i < NR_ENTRIES; i++)
		t.entry[i].cell = unit_random(&random) % 2 ? PACKED : 0;
	for (uint64_t pc = 0; pc < at + 3 * CPI_CODE_PAGE; pc++) {
		const uint32_t entry = look(p, pc), offset = pc % CPI_CODE_PAGE;
		const uint32_t page = entry < NR_ENTRIES ? t.entry[entry].cell : 0;
		const uint64_t found = cpi_window_find_code(p, pc);

		if (!is_right(found, page ? offset : CPI_CODE_PAGE))
			ck_abort_msg("seed %#llx, %#llx", (unsigned long long)seed,
				     (unsigned long long)pc);
	}
	ck_assert_uint_eq(cpi_window_find_code(p, UINT64_MAX - 5), 0);
}
END_TEST

/* What a hostile daemon may write; the sanitizer says whether anything is beyond. */
START_TEST(any_tables_are_survived)
{
	const uint64_t seed = unit_seed();
	uint64_t random = seed | 1;

	set_up();
	for (int round = 0; round < 3000; round++) {
		struct cpi_window_process *p = process();
		struct cpi_window_who who = whom;

		for (int i = 0; i < 4096; i++)
			((uint8_t *)t.cell)[unit_random(&random) % sizeof(t.cell)] =
				(uint8_t)unit_random(&random);
		for (int i = 0; i < CPI_WINDOW_REGIONS; i++) {
			p->start[i] = unit_random(&random) >> unit_random(&random) % 64;
			p->region[i].end = unit_random(&random);
			p->region[i].first = unit_random(&random) % (2 * NR_ENTRIES);
		}
		for (int i = 0; i < NR_ENTRIES; i++)
			t.entry[i].cell = unit_random(&random) % (2 * NR_CELLS);
		who.pc = unit_random(&random) >> unit_random(&random) % 64;
		t.room = 1;
		sample(&who);
		ck_assert_msg(t.record.window.nr <= CPI_WINDOW_INSTRUCTIONS,
			      "seed %#llx", (unsigned long long)seed);
	}
}
END_TEST

START_TEST(form_whose_entry_is_another_meanwhile_is_not_taken)
{
	const uint64_t nop[2] = { 0x90, 0x81ULL << 56 };
	struct cpi_form *form = &t.form[cpi_form_set(nop, NR_FORMS) + 2];
	uint64_t found;

	set_up();
	memset(t.code, 0x90, sizeof(t.code));
	*form = (struct cpi_form){ { nop[0], nop[1] }, PACKED, 2, 0, 0, 0 };
	t.reused_at = _i;
	found = cpi_window_find_form(&t.cpu, process(), CODE);
	ck_assert_int_eq(t.nr_looks, _i == 1 ? 1 : 2);
	ck_assert_uint_eq(found, _i ? CPI_WINDOW_NO_CODE : 2ULL << 32 | PACKED);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("window_sample");
	TCase *tc = tcase_create("window_sample");

	tcase_add_test(tc, who_is_entered_is_followed);
	tcase_add_loop_test(tc, data_take_the_room_that_targets_leave, 0, 80);
	tcase_add_loop_test(tc, an_origin_has_the_registers_and_the_loads_of_its_window,
			    0, NR(loads));
	tcase_add_test(tc, an_origin_has_room_for_so_many_loads);
	tcase_add_loop_test(tc, a_slot_has_room_for_what_it_holds, 0, 2);
	tcase_add_loop_test(tc, other_code_than_was_translated_ends_it, 0, NR(codes));
	tcase_add_loop_test(tc, who_is_another_is_told_of_and_not_followed, 0,
			    NR(strangers));
	tcase_add_loop_test(tc, what_is_lost_has_a_name, 0, NR(drops));
	tcase_add_test(tc, compat_code_is_told_by_the_selector_alone);
	tcase_add_test(tc, compat_code_is_not_followed);
	tcase_add_loop_test(tc, code_is_found_where_it_is, 0, 200);
	tcase_add_test(tc, any_tables_are_survived);
	tcase_add_loop_test(tc, form_whose_entry_is_another_meanwhile_is_not_taken, 0,
			    3);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
