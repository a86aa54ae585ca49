/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of forms: what is entered is found and filled, one user does not get all of
 * it, and what is evicted stays until the grace period is over. In place of
 * cpi-translate the test answers, with the same number of micro-ops for each form.
 */
#include "config.h"

#include <errno.h>

#include "daemon/windows/windowforms.h"
#include "t/unit/unit.h"

#define NR_FORMS 256u
#define NR_CELLS 64u /* of pages */

int __wrap_translate_child_ask(struct translate_child *t,
			       struct cpi_translate_request *q, uint32_t *cookie);

static struct {
	struct windowsource source;
	struct windowsource_ops ops;
	struct cpi_form form[NR_FORMS];
	union cpi_code_cell cell[NR_CELLS + NR_FORMS];
	struct cpi_translate_request asked;
	struct cpi_translate_reply reply;
	struct windowforms *forms;
	uint32_t cookie;
	uint8_t nr_uops; /* of each form */
	int nr_grace;
} t;

int __wrap_translate_child_ask(struct translate_child *child,
			       struct cpi_translate_request *q, uint32_t *cookie)
{
	(void)child;
	t.asked = *q;
	*cookie = ++t.cookie;
	return 0;
}

static int synchronize(const struct windowsource *ws)
{
	(void)ws;
	t.nr_grace++;
	return 0;
}

static void set_up(void)
{
	memset(&t, 0, sizeof(t));
	t.ops.synchronize = synchronize;
	t.source.ops = &t.ops;
	t.source.form = t.form;
	t.source.nr_forms = NR_FORMS;
	t.source.cell = t.cell;
	t.source.nr_cells = NR_CELLS;
	t.source.nr_form_cells = NR_FORMS;
	t.nr_uops = 1;
	t.forms = windowforms_new(&t.source, NULL);
	ck_assert_ptr_nonnull(t.forms);
}

static void tear_down(void)
{
	windowforms_free(t.forms);
}

/* Form number i: mov $imm, disp(%rax, %rcx), with i in prefix, opcode and registers. */
static void make_code(uint32_t i, uint8_t code[CPI_FORM_BYTES])
{
	memset(code, 0, CPI_FORM_BYTES);
	code[0] = (uint8_t)(0x40 | (i & 15));
	code[1] = 0xc7;
	code[2] = 0x84;
	code[3] = (uint8_t)(i >> 4);
	code[4] = 0x10;
	code[8] = 0x20;
}

static bool is_known(uint32_t i)
{
	struct cpi_uop uop[CPI_FORM_UOPS];
	uint8_t code[CPI_FORM_BYTES];

	make_code(i, code);
	return windowforms_fill(t.forms, code, uop) > 0;
}

static void answer(void)
{
	memset(&t.reply, 0, sizeof(t.reply));
	t.reply.nr_forms = t.asked.nr_forms;
	t.reply.nr_uops = CPI_UOPS_PER_PAGE;
	for (uint32_t i = 0; i < t.asked.nr_forms; i++) {
		struct cpi_form_parts parts;
		uint64_t word[2];

		memcpy(word, t.asked.code + i * CPI_FORM_BYTES, sizeof(word));
		ck_assert_uint_gt(cpi_form_split(&parts, word[0], word[1]), 0);
		t.reply.forms.form[i] = (struct cpi_translate_form){
			{ parts.key[0], parts.key[1] }, (uint16_t)i, t.nr_uops, 0, 0
		};
		t.reply.forms.uop[i] = (struct cpi_uop){
			.op = CPI_UOP_MOV,
			.flags = (CPI_FORM_DISP | CPI_FORM_SIGNED << 2)
				 << CPI_UOP_LENGTH_SHIFT,
		};
	}
	ck_assert(windowforms_answer(t.forms, t.cookie, 0, &t.reply));
}

/* A window of a user lacks the form; it is requested, and the answer comes. */
static void lack(uint32_t uid, uint32_t i)
{
	uint8_t code[CPI_FORM_BYTES];

	make_code(i, code);
	windowforms_want(t.forms, uid, code);
	if (windowforms_run(t.forms))
		answer();
	windowforms_take_room(t.forms);
	windowforms_give_room(t.forms);
}

static uint32_t nr_known(uint32_t from, uint32_t to)
{
	uint32_t nr = 0;

	for (uint32_t i = from; i < to; i++)
		nr += is_known(i);
	return nr;
}

START_TEST(form_is_requested_once_and_filled)
{
	struct cpi_uop uop[CPI_FORM_UOPS];
	uint8_t code[CPI_FORM_BYTES];

	set_up();
	make_code(7, code);
	windowforms_want(t.forms, 1, code);
	windowforms_want(t.forms, 1, code);
	ck_assert(windowforms_run(t.forms));
	ck_assert_uint_eq(t.asked.nr_forms, 1);
	windowforms_want(t.forms, 1, code);
	ck_assert(!windowforms_answer(t.forms, t.cookie + 1, 0, NULL));
	answer();
	ck_assert(!windowforms_run(t.forms));
	code[4] = 0x30;
	code[8] = 0x50;
	ck_assert_uint_eq(windowforms_fill(t.forms, code, uop), 1);
	ck_assert_int_eq(uop[0].disp, 0x30);
	ck_assert_int_eq(uop[0].imm, 0x50);
	ck_assert_uint_eq(cpi_uop_length(&uop[0]), 12);
	tear_down();
}
END_TEST

START_TEST(user_has_at_most_half)
{
	set_up();
	for (uint32_t i = 0; i < 1024; i++)
		lack(1, i);
	ck_assert_uint_le(nr_known(0, 1024), NR_FORMS / 2);
	ck_assert_uint_ge(nr_known(0, 1024), NR_FORMS / 4);
	for (uint32_t i = 1024; i < 1024 + NR_FORMS / 4; i++)
		lack(2, i);
	ck_assert_uint_ge(nr_known(1024, 1024 + NR_FORMS / 4), NR_FORMS / 8);
	tear_down();
}
END_TEST

START_TEST(user_cannot_evict_what_others_use)
{
	set_up();
	for (uint32_t i = 0; i < NR_FORMS / 4; i++)
		lack(1, i);
	ck_assert_uint_ge(nr_known(0, NR_FORMS / 4), NR_FORMS / 8);
	for (uint32_t i = 1024; i < 4096; i++) {
		const uint32_t before = nr_known(0, NR_FORMS / 4);

		for (uint32_t k = 0; k < NR_FORMS; k++)
			t.form[k].used = 1;
		lack(2, i);
		ck_assert_uint_eq(nr_known(0, NR_FORMS / 4), before);
	}
	tear_down();
}
END_TEST

START_TEST(evicted_form_is_found_until_the_grace_period_is_over)
{
	uint8_t code[CPI_FORM_BYTES];
	uint32_t known[2048], nr = 0;

	set_up();
	for (uint32_t i = 0; i < 1024; i++) {
		make_code(i, code);
		windowforms_want(t.forms, i % 3, code);
		if (windowforms_run(t.forms))
			answer();
	}
	for (uint32_t i = 0; i < 1024; i++) {
		if (is_known(i))
			known[nr++] = i;
	}
	ck_assert_int_eq(t.nr_grace, 0);
	windowforms_give_room(t.forms);
	for (uint32_t i = 0; i < nr; i++)
		ck_assert(is_known(known[i]));
	ck_assert_int_eq(windowforms_take_room(t.forms), 0);
	ck_assert_int_eq(t.nr_grace, 1);
	for (uint32_t i = 0; i < nr; i++)
		ck_assert(is_known(known[i]));
	windowforms_give_room(t.forms);
	ck_assert_uint_lt(nr_known(0, 1024), nr);
	tear_down();
}
END_TEST

START_TEST(scan_requests_each_form_of_the_code)
{
	uint8_t code[64 + CPI_FORM_BYTES] = {
		0x90, 0x48, 0x89, 0xd8, 0x48, 0x89, 0xd8
	};

	set_up();
	memset(code + 7, 0x90, 57);
	ck_assert_uint_eq(windowforms_scan(t.forms, 1, code, 0, 64), 64);
	ck_assert(windowforms_run(t.forms));
	ck_assert_uint_eq(t.asked.nr_forms, 2);
	tear_down();
}
END_TEST

START_TEST(answer_that_is_of_another_form_is_not_entered)
{
	uint8_t code[CPI_FORM_BYTES];

	set_up();
	make_code(1, code);
	windowforms_want(t.forms, 1, code);
	ck_assert(windowforms_run(t.forms));
	make_code(2, t.asked.code);
	answer();
	ck_assert(!is_known(1) && !is_known(2));
	windowforms_want(t.forms, 1, code);
	ck_assert(windowforms_run(t.forms));
	ck_assert(windowforms_answer(t.forms, t.cookie, -ECHILD, NULL));
	ck_assert(!is_known(1));
	tear_down();
}
END_TEST

static void be_used(uint8_t used)
{
	for (uint32_t i = 0; i < NR_FORMS; i++)
		t.form[i].used = used;
}

/* Windows use the forms of the third user only. */
static void use_third(void)
{
	for (uint32_t i = 0; i < NR_FORMS; i++)
		t.form[i].used = t.form[i].payer == 2;
}

/* All cells are in two users' forms of 2 or 6 micro-ops, then a third needs others. */
START_TEST(cells_are_reused_for_forms_of_other_sizes)
{
	uint32_t nr = 0;

	set_up();
	t.nr_uops = (uint8_t)(_i % 2 ? 2 : 6);
	for (uint32_t i = 0; i < 512; i++)
		lack(1 + i % 2, i);
	ck_assert_uint_ge(nr_known(0, 512) * t.nr_uops, NR_FORMS / 2);
	t.nr_uops = (uint8_t)(2 + _i / 2);
	for (int round = 0; round < 20 && nr < 12; round++) {
		for (uint32_t i = 1024; i < 1036; i++) {
			use_third();
			if (!is_known(i))
				lack(3, i);
		}
		nr = nr_known(1024, 1036);
	}
	ck_assert_uint_eq(nr, 12);
	tear_down();
}
END_TEST

static uint32_t set_of(uint32_t i)
{
	uint8_t code[CPI_FORM_BYTES];
	struct cpi_form_parts parts;
	uint64_t word[2];

	make_code(i, code);
	memcpy(word, code, sizeof(word));
	ck_assert_uint_gt(cpi_form_split(&parts, word[0], word[1]), 0);
	return cpi_form_set(parts.key, NR_FORMS);
}

START_TEST(set_that_one_user_crowds_has_room_for_another)
{
	const uint32_t set = set_of(0);

	set_up();
	for (uint32_t i = 1, nr = 0; nr < CPI_FORM_WAYS; i++) {
		if (set_of(i) != set)
			continue;
		lack(1, i);
		ck_assert(is_known(i));
		nr++;
	}
	for (int round = 0; round < 3; round++) {
		be_used(1);
		lack(2, 0);
	}
	ck_assert(is_known(0));
	tear_down();
}
END_TEST

START_TEST(form_that_waits_for_room_evicts_one)
{
	const uint32_t set = set_of(0);
	uint32_t nr_dying = 0;
	uint8_t code[CPI_FORM_BYTES];

	set_up();
	for (uint32_t i = 1, nr = 0; nr < CPI_FORM_WAYS; i++) {
		if (set_of(i) != set)
			continue;
		lack(nr++ % 4, i);
	}
	make_code(0, code);
	for (int round = 0; round < 3; round++) {
		windowforms_want(t.forms, 9, code);
		ck_assert(windowforms_run(t.forms));
		answer();
	}
	for (uint32_t i = set; i < set + CPI_FORM_WAYS; i++)
		nr_dying += (t.form[i].how & CPI_FORM_DYING) != 0;
	ck_assert_uint_eq(nr_dying, 1);
	windowforms_take_room(t.forms);
	windowforms_give_room(t.forms);
	lack(9, 0);
	ck_assert(is_known(0));
	tear_down();
}
END_TEST

/* Scans of one user: instructions of 12 bytes, each another form. */
START_TEST(scans_leave_room_for_what_windows_lack)
{
	static uint8_t code[4096 * 12 + CPI_FORM_BYTES];
	uint8_t lacking[CPI_FORM_BYTES];
	size_t at;

	set_up();
	for (uint32_t i = 0; i < 4096; i++)
		make_code(i, code + (size_t)i * 12);
	at = windowforms_scan(t.forms, 1, code, 0, sizeof(code) - CPI_FORM_BYTES);
	ck_assert_uint_gt(at, 0);
	ck_assert_uint_lt(at, 4000 * 12);
	ck_assert(!windowforms_may_scan(t.forms, 2));
	make_code(4095, lacking);
	windowforms_want(t.forms, 2, lacking);
	ck_assert(windowforms_run(t.forms));
	ck_assert_mem_eq(t.asked.code + (size_t)(t.asked.nr_forms - 1) * CPI_FORM_BYTES,
			 lacking, CPI_FORM_BYTES);
	tear_down();
}
END_TEST

START_TEST(user_without_room_scans_nothing)
{
	uint8_t code[CPI_FORM_BYTES];

	set_up();
	for (uint32_t i = 0; windowforms_may_scan(t.forms, 1); i++)
		lack(1, i);
	make_code(4000, code);
	ck_assert_uint_eq(windowforms_scan(t.forms, 1, code, 0, 12), 0);
	ck_assert(!windowforms_run(t.forms));
	ck_assert_uint_eq(windowforms_scan(t.forms, 2, code, 0, 12), 12);
	ck_assert(windowforms_run(t.forms));
	tear_down();
}
END_TEST

/* Forms have less than half of it; on up to 8 CPUs 2^18 cells are left for pages. */
START_TEST(usual_memory_has_room_for_code_beside_the_rings)
{
	static const uint32_t nr_cpus[] = { 1, 2, 4, 8, 16, 128 };
	const bool origins = _i & 1;
	const uint32_t rings = 2 * windowsource_ring_bytes(nr_cpus[_i / 2], origins);
	struct windowsource ws = { .cfg.nr_entries = 16384 };
	uint64_t forms;

	windowsource_size_forms(&ws, rings);
	forms = ws.nr_forms * sizeof(struct cpi_form) +
		ws.nr_form_cells * sizeof(union cpi_code_cell);
	ck_assert_uint_le(2 * forms, ws.cfg.max_bytes);
	if (nr_cpus[_i / 2] <= 8)
		ck_assert_uint_ge(windowsource_nr_cells(&ws.cfg, rings + forms),
				  1u << 18);
	/* A size that is given stays. */
	ws.cfg.max_bytes = 5 << 20;
	windowsource_size_forms(&ws, rings);
	ck_assert_uint_eq(ws.cfg.max_bytes, 5 << 20);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windowforms");
	TCase *tc = tcase_create("windowforms");

	tcase_add_test(tc, form_is_requested_once_and_filled);
	tcase_add_test(tc, user_has_at_most_half);
	tcase_add_test(tc, user_cannot_evict_what_others_use);
	tcase_add_test(tc, evicted_form_is_found_until_the_grace_period_is_over);
	tcase_add_test(tc, scan_requests_each_form_of_the_code);
	tcase_add_test(tc, answer_that_is_of_another_form_is_not_entered);
	tcase_add_loop_test(tc, cells_are_reused_for_forms_of_other_sizes, 0, 8);
	tcase_add_test(tc, set_that_one_user_crowds_has_room_for_another);
	tcase_add_test(tc, form_that_waits_for_room_evicts_one);
	tcase_add_test(tc, scans_leave_room_for_what_windows_lack);
	tcase_add_test(tc, user_without_room_scans_nothing);
	tcase_add_loop_test(tc, usual_memory_has_room_for_code_beside_the_rings, 0, 12);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
