/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches, run by run: the same counts as entry by entry, and nothing allocated. */
#include "config.h"

#include "daemon/attribute.h"

#include <string.h>

#include "db/records.h"
#include "t/bench/crowd.h"
#include "t/unit/unit.h"

#define NR_ENTRIES   2000
#define NR_PROCESSES 6
#define PAGE         0x1000ULL
#define ALL_KINDS    ((1u << NR_CONTEXT_KINDS) - 1)

/* ---- counting allocations ---- */

static size_t nr_allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	nr_allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	nr_allocations++;
	return __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	nr_allocations++;
	return __real_realloc(old, size);
}

START_TEST(what_was_seen_before_is_counted_without_an_allocation)
{
	struct cpi_entry entries[NR_ENTRIES], spare[NR_ENTRIES];
	struct batch batch;
	struct crowd c;
	size_t nr, before;

	crowd_open(&c, 40, 30, unit_seed());
	c.a.by = _i ? ALL_KINDS : 0;
	nr = crowd_sample(&c, entries, spare, NR_ENTRIES);
	batch = crowd_batch(entries, nr);
	before = nr_allocations;
	attribute_batch(&c.a, &batch);
	ck_assert_uint_gt(nr_allocations, before);
	before = nr_allocations;
	attribute_batch(&c.a, &batch);
	ck_assert_uint_eq(nr_allocations, before);
	ck_assert_uint_eq(tally_total(c.a.tally), 2 * NR_ENTRIES);
	crowd_close(&c);
}
END_TEST

/* ---- runs and single entries ---- */

/* Mappings that come, go and move, at few addresses, in processes that exec and fork.
 */
static void happen(struct crowd *c, uint64_t when)
{
	uint32_t tgid = 1 + crowd_random(c) % NR_PROCESSES;
	uint64_t kind = crowd_random(c) % 16;
	struct range r = { .start = (1 + crowd_random(c) % 8) * PAGE, .since = when };

	if (!kind) {
		procmap_exec(c->a.procmap, tgid, tgid & 1 ? "a" : "b", when);
	} else if (kind == 1) {
		procmap_fork(c->a.procmap, tgid, 1 + crowd_random(c) % NR_PROCESSES,
			     when);
	} else if (kind == 2) {
		procmap_add_gap(c->a.procmap, when, when);
	} else {
		r.end = r.start + (1 + crowd_random(c) % 3) * PAGE;
		r.bias = crowd_random(c) % 2 ? -r.start : 0;
		r.value = crowd_image(c, crowd_random(c) % 3);
		procmap_map(c->a.procmap, tgid, &r);
	}
}

static size_t make_entries(struct crowd *c, struct cpi_entry *e, bool sorted)
{
	struct cpi_entry spare[NR_ENTRIES];

	for (size_t i = 0; i < NR_ENTRIES; i++) {
		uint32_t tgid = crowd_random(c) % (NR_PROCESSES + 2);
		uint64_t pc = crowd_random(c) % (12 * PAGE);

		if (crowd_random(c) % 4 == 0)
			pc = CROWD_KERNEL - PAGE +
			     crowd_random(c) % (CROWD_SYMBOLS * 256 + 2 * PAGE);
		e[i].word0 =
			cpi_entry_word0(pc, crowd_random(c) % 2, crowd_random(c) % 4);
		e[i].word1 = cpi_entry_who(tgid, crowd_random(c) % 3) |
			     (1 + crowd_random(c) % 9) << CPI_COUNT_SHIFT;
	}
	return sorted ? entries_sort(e, spare, NR_ENTRIES) : NR_ENTRIES;
}

static struct profile *find_profile(const struct tally *t,
				    const struct tally_profile *like)
{
	struct hnode *n, *next;

	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (p->image == like->image && p->event == like->event &&
		    !strcmp(p->context, like->context))
			return p->profile;
	}
	return NULL;
}

static uint64_t find_comm(const struct tally *t, const struct tally_comm *like)
{
	struct hnode *n, *next;

	hmap_for_each (&t->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		if (c->image == like->image && c->event == like->event &&
		    !strcmp(c->comm, like->comm))
			return c->n;
	}
	return 0;
}

static bool same_tallies(const struct tally *a, const struct tally *b)
{
	struct hnode *n, *next;

	if (a->profiles.nr != b->profiles.nr || a->comms.nr != b->comms.nr ||
	    a->unreadable != b->unreadable || memcmp(a->loss, b->loss, sizeof(a->loss)))
		return false;
	hmap_for_each (&a->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);
		struct profile *other = find_profile(b, p);
		const struct count *x, *y;
		size_t nr, nr_other;

		if (!other)
			return false;
		x = profile_sorted(p->profile, &nr);
		y = profile_sorted(other, &nr_other);
		if (nr != nr_other || memcmp(x, y, nr * sizeof(*x)))
			return false;
	}
	hmap_for_each (&a->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		if (find_comm(b, c) != c->n)
			return false;
	}
	return true;
}

static const struct {
	bool sorted, by_exec_id, by_context;
	uint64_t from_ns, to_ns; /* 400 events, one at each nanosecond */
} batches[] = {
	{ true, false, false, 500, 600 }, { true, true, true, 500, 600 },
	{ true, false, true, 360, 400 },  { true, true, false, 0, 600 },
	{ false, false, true, 300, 400 }, { false, true, false, 390, 600 },
};

START_TEST(a_run_counts_what_its_entries_count_one_by_one)
{
	uint64_t seed = unit_seed();
	struct cpi_entry entries[NR_ENTRIES];
	struct batch all = { .from_ns = batches[_i].from_ns,
			     .to_ns = batches[_i].to_ns,
			     .entries = entries,
			     .by_exec_id = batches[_i].by_exec_id };
	struct tally *whole;
	struct crowd c;

	crowd_open(&c, 1, 3, seed);
	c.a.by = batches[_i].by_context ? ALL_KINDS : 0;
	for (uint64_t when = 0; when < 400; when++)
		happen(&c, when);
	all.nr = make_entries(&c, entries, batches[_i].sorted);
	attribute_batch(&c.a, &all);
	whole = c.a.tally;
	c.a.tally = tally_new();
	for (size_t i = 0; i < all.nr; i++) {
		struct batch one = all;

		one.entries = &entries[i];
		one.nr = 1;
		attribute_batch(&c.a, &one);
	}
	if (!same_tallies(whole, c.a.tally))
		ck_abort_msg("seed %llu: batch %d", (unsigned long long)seed, _i);
	ck_assert_uint_gt(tally_kept(whole), 0);
	tally_free(whole);
	crowd_close(&c);
}
END_TEST

/* ---- what hardware recorded ---- */

static void check_records(const struct tally_profile *p)
{
	const struct records *records = profile_records(p->profile);
	const struct count *count;
	size_t nr;

	ck_assert_ptr_nonnull(records);
	count = profile_sorted(p->profile, &nr);
	ck_assert_uint_eq(records_nr(records), nr);
	for (size_t i = 0; i < nr; i++) {
		struct records_row row = records_at(records, count[i].offset);

		ck_assert_uint_eq(records_cell(&row, RECORDS_KNOWN, RECORD_ANY),
				  count[i].n);
		ck_assert_uint_eq(records_cell(&row, RECORDS_SEEN, RECORD_RETIRED),
				  count[i].n);
	}
}

START_TEST(records_are_kept_where_their_samples_are_counted)
{
	static struct batch_record records[NR_ENTRIES];
	struct cpi_entry entries[NR_ENTRIES];
	struct batch batch = { .from_ns = 300,
			       .to_ns = 400,
			       .entries = entries,
			       .nr = NR_ENTRIES,
			       .records = records,
			       .nr_records = NR_ENTRIES };
	struct hnode *n, *next;
	struct crowd c;
	size_t memory;

	crowd_open(&c, 1, 3, unit_seed());
	c.a.by = _i ? ALL_KINDS : 0;
	for (uint64_t when = 0; when < 400; when++)
		happen(&c, when);
	make_entries(&c, entries, false);
	for (size_t i = 0; i < NR_ENTRIES; i++) {
		records[i].entry = entries[i];
		records[i].entry.word1 &= UINT32_MAX;
		entries[i].word1 = records[i].entry.word1 | 1ULL << CPI_COUNT_SHIFT;
		hw_tell(&records[i].hw, HW_RETIRED, true);
	}
	attribute_batch(&c.a, &batch);
	ck_assert_uint_eq(tally_total(c.a.tally), NR_ENTRIES);
	ck_assert_uint_gt(tally_kept(c.a.tally), 0);
	memory = sizeof(struct tally);
	hmap_for_each (&c.a.tally->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		check_records(p);
		memory += profile_memory(p->profile);
	}
	ck_assert_uint_ge(tally_memory(c.a.tally), memory);
	crowd_close(&c);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("attribute");
	TCase *tc = tcase_create("runs");

	tcase_add_loop_test(tc, what_was_seen_before_is_counted_without_an_allocation,
			    0, 2);
	tcase_add_loop_test(tc, a_run_counts_what_its_entries_count_one_by_one, 0,
			    NR(batches));
	tcase_add_loop_test(tc, records_are_kept_where_their_samples_are_counted, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
