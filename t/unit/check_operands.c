/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which values a stored set has: those of I1 to I4 of db/profile/operands.h, no others;
 * and that bytes which are no set are refused.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "db/profile/accesses.h"
#include "t/unit/unit.h"

#define KEY INT64_C(0x1b1d3f57c2e4a683)

/* Adds n windows that each execute one operand. */
static void add(struct operands *set, enum operand_kind kind, int64_t value, int n,
		bool taken)
{
	const struct operand o = { .offset = 0x100,
				   .kind = (uint8_t)kind,
				   .size = 3,
				   .known = true,
				   .taken = taken,
				   .value = value };

	for (int i = 0; i < n; i++)
		ck_assert_int_eq(operands_add(set, &o, 1), 0);
}

/* What a database gets of set. NULL: nothing. */
static struct operands *stored(const struct operands *set, struct buf *bytes)
{
	struct operands *out = operands_new(OPERANDS_MAX_SITES);
	const uint8_t *at;

	operands_put(set, bytes);
	if (!bytes->len) {
		operands_free(out);
		return NULL;
	}
	at = (const uint8_t *)bytes->data;
	ck_assert_int_eq(operands_get(&at, at + bytes->len, out), 0);
	ck_assert_ptr_eq(at, bytes->data + bytes->len);
	return out;
}

static const struct operands_site *only_site(const struct operands *set)
{
	size_t nr;
	const struct operands_site *const *site = operands_sites(set, &nr);

	ck_assert_uint_eq(nr, 1);
	return site[0];
}

static const struct {
	enum operand_kind kind;
	int64_t value;
	int windows, others; /* windows with the value, and with 1 in its place */
	int kept;            /* whether the value is; -1: not even the operand */
} values[] = {
	{ OPERAND_DIVISOR, 10, 4, 4, 1 },
	{ OPERAND_DIVISOR, 10, 3, 4, 0 }, /* too few windows */
	{ OPERAND_DIVISOR, 10, 3, 0, -1 },
	{ OPERAND_DIVISOR, UINT32_MAX, 400, 0, 1 },
	{ OPERAND_DIVISOR, INT64_C(1) << 32, 400, 0, 0 }, /* too large */
	{ OPERAND_DIVISOR, -10, 400, 0, 0 },
	{ OPERAND_SIZE, 4096, 400, 0, 1 },
	{ OPERAND_SHIFT, 3, 400, 0, 1 },
	{ OPERAND_MULTIPLIER, 65535, 400, 0, 1 },
	{ OPERAND_MULTIPLIER, -65535, 400, 0, 1 },
	{ OPERAND_MULTIPLIER, 65536, 400, 0, 0 },
	{ OPERAND_MULTIPLICAND, KEY, 400, 0, 0 },
	{ OPERAND_MULTIPLICAND, INT64_MIN, 400, 0, 0 },
	{ OPERAND_COMPARED, 42, 400, 10, 1 },
	{ OPERAND_COMPARED, KEY, 400, 10, 0 },
	{ OPERAND_COMPARED, 42, 400, 100, -1 }, /* the jump goes both ways */
	{ OPERAND_LOADED, 42, 400, 0, 0 },      /* never */
	{ OPERAND_LOADED, 42, 300, 100, 0 },
};

START_TEST(only_small_values_of_enough_windows_are_stored)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES), *out;
	struct buf bytes = { 0 };
	bool found = false;

	add(set, values[_i].kind, values[_i].value, values[_i].windows,
	    values[_i].kind == OPERAND_COMPARED);
	add(set, values[_i].kind, 1, values[_i].others, false);
	out = stored(set, &bytes);
	if (out) {
		const struct operands_site *s = only_site(out);
		uint64_t classes = 0;

		for (uint32_t i = 0; i < s->nr; i++)
			found |= s->value[i].value == values[_i].value;
		for (int i = 0; i < OPERAND_NR_CLASSES; i++)
			classes += s->class[i];
		ck_assert_uint_eq(classes, s->known);
		ck_assert_uint_eq(s->known, (unsigned int)(values[_i].windows +
							   values[_i].others));
		ck_assert_uint_eq(s->windows, s->known);
	}
	ck_assert_int_eq(found, values[_i].kept == 1);
	ck_assert_int_eq(out == NULL, values[_i].kept < 0);
	operands_free(set);
	operands_free(out);
	buf_fini(&bytes);
}
END_TEST

START_TEST(frequent_values_stay_among_many_others)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES), *out;
	const struct operands_site *s;
	struct buf bytes = { 0 };
	uint64_t n = 0, random = 7;

	for (int i = 0; i < 4000; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		add(set, OPERAND_DIVISOR, i % 4 ? 10 : (int64_t)(random >> 40), 1,
		    false);
	}
	out = stored(set, &bytes);
	s = only_site(out);
	for (uint32_t i = 0; i < s->nr; i++)
		n += s->value[i].value == 10 ? s->value[i].n : 0;
	ck_assert_uint_eq(n, 3000);
	ck_assert_uint_le(s->nr, OPERANDS_KEPT);
	ck_assert_uint_gt(s->distinct, 900);
	ck_assert_uint_ge(s->same, 1999);
	operands_free(set);
	operands_free(out);
	buf_fini(&bytes);
}
END_TEST

#define NR_SETS   3
#define NR_VALUES 100
#define NR_CLOSE  37 /* a prime, so that each step reaches all */

/* Small values are more frequent. */
static int64_t skewed(uint64_t *seed)
{
	return (int64_t)(unit_random(seed) % NR_VALUES * (unit_random(seed) % 8) / 7);
}

/* Counts all executions, and compares: some sets were stored before they are merged. */
START_TEST(no_value_has_more_executions_than_its_bound)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES), *sum;
	uint64_t n[NR_VALUES] = { 0 }, seed = (uint64_t)_i + 1;
	struct buf bytes = { 0 };
	const struct operands_site *s;

	for (int k = 0; k < NR_SETS; k++) {
		struct operands *one = operands_new(OPERANDS_MAX_SITES), *out = NULL;
		const uint64_t nr = 1 + unit_random(&seed) % 2000;

		for (uint64_t i = 0; i < nr + 100; i++) {
			const int64_t value = skewed(&seed);

			add(one, OPERAND_DIVISOR, value, 1, false);
			n[value]++;
		}
		buf_reset(&bytes);
		if (unit_random(&seed) % 2)
			out = stored(one, &bytes);
		ck_assert_int_eq(operands_merge(set, out ? out : one, NULL, 0), 0);
		operands_free(out);
		operands_free(one);
	}
	buf_reset(&bytes);
	sum = stored(set, &bytes);
	s = only_site(sum);
	ck_assert_uint_le(s->missed, s->known / 4);
	for (int value = 0; value < NR_VALUES; value++) {
		uint64_t listed = 0;

		for (uint32_t i = 0; i < s->nr; i++)
			listed += s->value[i].value == value ? s->value[i].n : 0;
		ck_assert_uint_le(listed, n[value]);
		ck_assert_uint_ge(listed + s->missed, n[value]);
	}
	operands_free(sum);
	operands_free(set);
	buf_fini(&bytes);
}
END_TEST

/*
 * Sets of about as many values as a table holds, nearly equally frequent and in any
 * order: one may be displaced, come again, and be displaced again in the same merge.
 */
START_TEST(values_that_are_displaced_twice_are_within_the_bound)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES);
	uint64_t n[NR_CLOSE] = { 0 }, seed = (uint64_t)_i + 1;
	const struct operands_site *s;

	for (int k = 0; k < NR_SETS; k++) {
		struct operands *one = operands_new(OPERANDS_MAX_SITES);
		const uint64_t first = unit_random(&seed) % NR_CLOSE;
		const uint64_t step = 1 + unit_random(&seed) % (NR_CLOSE - 1);

		for (uint64_t i = 0; i < OPERANDS_VALUES; i++) {
			const int64_t value = (int64_t)((first + i * step) % NR_CLOSE);
			const int nr = 4 + (int)(unit_random(&seed) % 4);

			add(one, OPERAND_DIVISOR, value, nr, false);
			n[value] += (uint64_t)nr;
		}
		ck_assert_uint_eq(only_site(one)->floor, 0);
		ck_assert_int_eq(operands_merge(set, one, NULL, 0), 0);
		operands_free(one);
	}
	s = only_site(set);
	for (int value = 0; value < NR_CLOSE; value++) {
		uint64_t listed = 0;

		for (uint32_t i = 0; i < s->nr; i++)
			listed += s->value[i].value == value ? s->value[i].n : 0;
		ck_assert_uint_ge(listed + s->missed, n[value]);
	}
	operands_free(set);
}
END_TEST

/* As an older version wrote it: without the flag 64, and without the bound. */
START_TEST(operands_of_older_versions_have_no_bound)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES), *out;
	struct buf bytes = { 0 };
	const uint8_t *at;
	uint8_t *data;

	add(set, OPERAND_DIVISOR, 10, 9, false);
	out = stored(set, &bytes);
	ck_assert_uint_eq(only_site(out)->missed, 0);
	operands_free(out);
	data = (uint8_t *)bytes.data;
	ck_assert_uint_ne(data[5] & 64, 0);
	ck_assert_uint_eq(data[12], 0);
	data[5] &= (uint8_t)~64;
	memmove(data + 12, data + 13, bytes.len - 13);
	out = operands_new(OPERANDS_MAX_SITES);
	at = data;
	ck_assert_int_eq(operands_get(&at, data + bytes.len - 1, out), 0);
	ck_assert_uint_eq(only_site(out)->known, 9);
	ck_assert_uint_eq(only_site(out)->missed, 9);
	operands_free(out);
	operands_free(set);
	buf_fini(&bytes);
}
END_TEST

START_TEST(merging_adds_up_and_then_decides)
{
	struct operands *a = operands_new(OPERANDS_MAX_SITES),
			*b = operands_new(OPERANDS_MAX_SITES), *out;
	const uint32_t map[] = { 5 };
	struct buf bytes = { 0 };

	add(a, OPERAND_DIVISOR, 10, 2, false);
	add(b, OPERAND_DIVISOR, 10, 2, false);
	ck_assert_int_eq(operands_merge(a, b, map, 0), -CPI_ECORRUPT);
	ck_assert_int_eq(operands_merge(a, b, NULL, 0), 0);
	out = stored(a, &bytes);
	ck_assert_int_eq(only_site(out)->value[0].value, 10);
	ck_assert_uint_eq(only_site(out)->value[0].windows, 4);
	operands_free(out);
	out = operands_new(OPERANDS_MAX_SITES);
	ck_assert_int_eq(operands_merge(out, a, map, 1), 0);
	ck_assert_uint_eq(only_site(out)->image, 5);
	operands_free(a);
	operands_free(b);
	operands_free(out);
	buf_fini(&bytes);
}
END_TEST

/* Loads of which other returned something else than the one before. */
static struct operands *loads(int nr, int other)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES);

	for (int i = 0; i < nr; i++)
		add(set, OPERAND_LOADED, i < other ? i : other, 1, false);
	return set;
}

static const struct {
	int nr, other; /* of a set */
	bool stored;
} load_sets[] = {
	{ 15, 0, false },  { 16, 0, true },    { 16, 1, true }, { 16, 2, false },
	{ 31, 1, true },   { 31, 2, false },   { 32, 3, true }, { 32, 4, false },
	{ 160, 19, true }, { 160, 20, false },
};

START_TEST(loads_that_are_stored_stay_when_sets_are_merged)
{
	struct operands *sum = operands_new(OPERANDS_MAX_SITES), *one, *out;
	struct buf bytes = { 0 };

	for (int nr = 1; nr <= 20; nr++) {
		one = loads(load_sets[_i].nr, load_sets[_i].other);
		ck_assert_int_eq(operands_merge(sum, one, NULL, 0), 0);
		buf_reset(&bytes);
		out = stored(sum, &bytes);
		if (nr == 1 || load_sets[_i].stored)
			ck_assert_int_eq(out != NULL, load_sets[_i].stored);
		operands_free(one);
		operands_free(out);
	}
	operands_free(sum);
	buf_fini(&bytes);
}
END_TEST

static void fill(struct operands *set, uint32_t image)
{
	for (uint64_t i = 0; i < OPERANDS_MAX_SITES; i++) {
		const struct operand o = { .offset = i,
					   .image = image,
					   .kind = OPERAND_DIVISOR,
					   .known = true,
					   .value = 10 };

		ck_assert_int_eq(operands_add(set, &o, 1), 0);
	}
}

/* As a report does: a set of many images has room for those of several stored sets. */
START_TEST(a_larger_limit_has_the_operands_of_all_images)
{
	struct operands *small = operands_new(OPERANDS_MAX_SITES);
	struct operands *large = operands_new(3 * OPERANDS_MAX_SITES), *one;
	size_t nr;

	for (uint32_t image = 0; image < 3; image++) {
		one = operands_new(OPERANDS_MAX_SITES);
		fill(one, image);
		ck_assert_int_eq(operands_merge(small, one, NULL, 0), 0);
		ck_assert_int_eq(operands_merge(large, one, NULL, 0), 0);
		operands_free(one);
	}
	ck_assert_uint_eq(operands_left_out(small), 2 * OPERANDS_MAX_SITES);
	ck_assert_uint_eq(operands_left_out(large), 0);
	operands_sites(small, &nr);
	ck_assert_uint_eq(nr, OPERANDS_MAX_SITES);
	operands_sites(large, &nr);
	ck_assert_uint_eq(nr, 3 * OPERANDS_MAX_SITES);
	operands_free(small);
	operands_free(large);
}
END_TEST

START_TEST(a_set_of_accesses_carries_operands)
{
	struct accesses *set = accesses_new(4), *again = accesses_new(4);
	const struct operand o = {
		.offset = 8, .kind = OPERAND_DIVISOR, .known = true, .value = 10
	};
	struct buf blob = { 0 };

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(accesses_add_operands(set, &o, 1), 0);
	ck_assert_int_eq(accesses_encode(set, &blob), 0);
	ck_assert_uint_gt(blob.len, 0);
	ck_assert_int_eq(accesses_decode(blob.data, blob.len, again), 0);
	ck_assert_uint_eq(accesses_seen(again), 0);
	ck_assert_int_eq(only_site(accesses_operands(again))->value[0].value, 10);
	accesses_free(set);
	accesses_free(again);
	buf_fini(&blob);
}
END_TEST

/* Each byte in turn has another value: what is read then keeps the invariants. */
START_TEST(other_bytes_are_refused_or_keep_the_invariants)
{
	struct operands *set = operands_new(OPERANDS_MAX_SITES);
	struct buf bytes = { 0 };
	uint8_t *data;

	add(set, OPERAND_DIVISOR, 10, 9, false);
	add(set, OPERAND_DIVISOR, 1000, 5, false);
	add(set, OPERAND_COMPARED, -5, 7, true);
	operands_put(set, &bytes);
	data = (uint8_t *)bytes.data;
	for (size_t i = 0; i < bytes.len; i++) {
		for (unsigned int to = 0; to < 256; to++) {
			struct operands *out = operands_new(OPERANDS_MAX_SITES);
			const uint8_t was = data[i], *at = data;
			const struct operands_site *const *site;
			size_t nr;

			data[i] = (uint8_t)to;
			if (!operands_get(&at, data + bytes.len, out))
				ck_assert(at <= data + bytes.len);
			site = operands_sites(out, &nr);
			for (size_t k = 0; k < nr; k++) {
				uint64_t left = site[k]->known;

				for (uint32_t v = 0; v < site[k]->nr; v++) {
					ck_assert(operands_may_keep(
						site[k]->kind,
						site[k]->value[v].value));
					ck_assert_uint_le(site[k]->value[v].n, left);
					left -= site[k]->value[v].n;
				}
				left = site[k]->known;
				for (int c = 0; c < OPERAND_NR_CLASSES; c++) {
					ck_assert_uint_le(site[k]->class[c], left);
					left -= site[k]->class[c];
				}
				ck_assert_uint_eq(left, 0);
			}
			data[i] = was;
			operands_free(out);
		}
	}
	for (size_t cut = 0; cut < bytes.len; cut++) {
		struct operands *out = operands_new(OPERANDS_MAX_SITES);
		const uint8_t *at = data;

		ck_assert_int_ne(operands_get(&at, data + cut, out), 0);
		operands_free(out);
	}
	operands_free(set);
	buf_fini(&bytes);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("operands");
	TCase *t = tcase_create("operands");

	tcase_add_loop_test(t, only_small_values_of_enough_windows_are_stored, 0,
			    (int)NR(values));
	tcase_add_test(t, frequent_values_stay_among_many_others);
	tcase_add_loop_test(t, no_value_has_more_executions_than_its_bound, 0, 100);
	tcase_add_loop_test(t, values_that_are_displaced_twice_are_within_the_bound, 0,
			    100);
	tcase_add_test(t, operands_of_older_versions_have_no_bound);
	tcase_add_test(t, merging_adds_up_and_then_decides);
	tcase_add_loop_test(t, loads_that_are_stored_stay_when_sets_are_merged, 0,
			    (int)NR(load_sets));
	tcase_add_test(t, a_larger_limit_has_the_operands_of_all_images);
	tcase_add_test(t, a_set_of_accesses_carries_operands);
	tcase_add_test(t, other_bytes_are_refused_or_keep_the_invariants);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
