/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of an interrupt, with arrays for the tables: each sample is a record or
 * a loss by name, and whatever the tables hold, nothing beyond them is asked for.
 */
#include "config.h"

#include <string.h>

#include "abi/window_bpf.h"
#include "t/unit/unit.h"

#define __TARGET_ARCH_x86 /* whose names the registers here have */

#define NR_ENTRIES 64
#define NR_SLOTS   8
#define PID        4711
#define CODE       0x400000ULL

struct registers {
	uint64_t ax, cx, dx, bx, sp, bp, si, di, r8, r9, r10, r11, r12, r13, r14, r15,
		flags, ip, cs;
};

static struct {
	struct cpi_window_process process[CPI_WINDOW_PROCESSES];
	struct cpi_window_entry entry[NR_ENTRIES];
	struct cpi_code_page slot[NR_SLOTS];
	struct cpi_window_cpu cpu;
	struct cpi_window_record record;
	struct cpi_code_bytes bytes; /* of each slot: zeros, as is the code */
	uint32_t nr_records, room;
	int code;
	bool excluded, changes;
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
	const uint32_t slot = ip >> CPI_UOP_INDEX_BITS, place = ip & CPI_UOP_INDEX_MASK;

	return slot < NR_SLOTS && place < CPI_UOPS_PER_PAGE ? &t.slot[slot].uop[place]
							    : NULL;
}

struct cpi_window_following;
static void run(const struct cpi_window_following *f);

#define CPI_WINDOW_REGS struct registers
#define CPI_WINDOW_PROCESS(number) \
	((number) < CPI_WINDOW_PROCESSES ? &t.process[number] : NULL)
#define CPI_WINDOW_ENTRY(number)                ((number) < NR_ENTRIES ? &t.entry[number] : NULL)
#define CPI_WINDOW_CODE(number)                 ((number) < NR_SLOTS ? &t.slot[number] : NULL)
#define CPI_WINDOW_BYTES(number)                ((number) < NR_SLOTS ? &t.bytes : NULL)
#define CPI_WINDOW_READ_LINE(to, address)       (memset(to, t.code, sizeof(to)), 0)
#define CPI_WINDOW_UOP(ctx, ip)                 uop_at(ip)
#define CPI_WINDOW_READ(ctx, to, size, address) (-1)
#define CPI_WINDOW_NOW()                        0
#define CPI_WINDOW_IS_EXCLUDED()                t.excluded
#define CPI_WINDOW_RUN(ctx)                     run(ctx)
#define CPI_WINDOW_PUT(cpu, r)                  put(r)
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
	t.entry[5].slot = 7;
	t.slot[7].index[0] = 1;
	t.slot[7].uop[0] = (struct cpi_uop){ .op = CPI_UOP_JMP, .address = 1 };
}

static struct cpi_window_process *process(void)
{
	return &t.process[cpi_window_set(PID) * CPI_WINDOW_WAYS + 2];
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
}
END_TEST

START_TEST(other_code_than_was_translated_ends_it)
{
	set_up();
	t.code = 0xcc;
	sample(&whom);
	ck_assert_uint_eq(t.nr_records, 1);
	ck_assert_uint_eq(t.record.window.nr, 0);
	ck_assert_uint_eq(t.record.window.end, CPI_WINDOW_CHANGED);
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

static const struct {
	void (*so)(void);
	enum cpi_window_drop why;
} drops[] = {
	{ be_excluded, CPI_WINDOW_DROP_EXCLUDED },
	{ be_in_excluded_cgroup, CPI_WINDOW_DROP_EXCLUDED },
	{ be_changing, CPI_WINDOW_DROP_STALE },
	{ change, CPI_WINDOW_DROP_STALE },
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

START_TEST(compat_code_is_not_followed)
{
	struct cpi_window_who who = whom;

	set_up();
	who.compat = 1;
	sample(&who);
	ck_assert_uint_eq(t.cpu.counts.dropped[CPI_WINDOW_DROP_COMPAT], 1);
}
END_TEST

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

/* Regions in order, as the daemon has them: the page is the one that a search finds. */
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
	for (uint32_t i = 0; i < NR_ENTRIES; i++)
		t.entry[i].slot = unit_random(&random) % (NR_SLOTS + 2);
	for (uint32_t i = 0; i < NR_SLOTS; i++)
		t.slot[i].index[8] = (uint16_t)(i + 1);
	for (uint64_t pc = 8; pc < at + 3 * CPI_CODE_PAGE; pc += CPI_CODE_PAGE) {
		const uint32_t entry = look(p, pc);
		const uint32_t slot = entry < NR_ENTRIES ? t.entry[entry].slot : 0;

		ck_assert_msg(cpi_window_find_code(p, pc) ==
				      (slot && slot < NR_SLOTS ? cpi_uop_ip(slot, slot)
							       : 0),
			      "seed %#llx", (unsigned long long)seed);
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
		uint8_t *bytes = (uint8_t *)&t.slot[unit_random(&random) % NR_SLOTS];

		for (int i = 0; i < 4096; i++)
			bytes[unit_random(&random) % sizeof(t.slot[0])] =
				(uint8_t)unit_random(&random);
		for (int i = 0; i < CPI_WINDOW_REGIONS; i++) {
			p->start[i] = unit_random(&random) >> unit_random(&random) % 64;
			p->region[i].end = unit_random(&random);
			p->region[i].first = unit_random(&random) % (2 * NR_ENTRIES);
		}
		for (int i = 0; i < NR_ENTRIES; i++)
			t.entry[i].slot = unit_random(&random) % (2 * NR_SLOTS);
		who.pc = unit_random(&random) >> unit_random(&random) % 64;
		t.room = 1;
		sample(&who);
		ck_assert_msg(t.record.window.nr <= CPI_WINDOW_INSTRUCTIONS,
			      "seed %#llx", (unsigned long long)seed);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("window_sample");
	TCase *tc = tcase_create("window_sample");

	tcase_add_test(tc, who_is_entered_is_followed);
	tcase_add_test(tc, other_code_than_was_translated_ends_it);
	tcase_add_loop_test(tc, who_is_another_is_told_of_and_not_followed, 0,
			    NR(strangers));
	tcase_add_loop_test(tc, what_is_lost_has_a_name, 0, NR(drops));
	tcase_add_test(tc, compat_code_is_not_followed);
	tcase_add_loop_test(tc, code_is_found_where_it_is, 0, 200);
	tcase_add_test(tc, any_tables_are_survived);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
