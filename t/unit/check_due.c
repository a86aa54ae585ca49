/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_due.c - each flush counts once, whatever retention does between two batches
 *
 * The model has the epochs of one run. An epoch has ten minutes at first; retention
 * makes hours and days of them. Epochs get and lose labels after they were shipped, and
 * the clock is set back. The store is a list of shipments.
 */
#include "config.h"

#include "base/times.h"
#include "db/core/sql.h"
#include "ship/contained.h"
#include "ship/due.h"
#include "ship/rewind.h"
#include "ship/sums.h"
#include "t/unit/unit.h"

#define MINUTE_NS  (60 * NSEC_PER_SEC)
#define DAY_NS     (24 * NSEC_PER_HOUR)
#define NR_DAYS    3
#define MAX_NR     (NR_DAYS * 144 + 1)
#define MAX_SENT   (200 * MAX_NR)
#define RUN_ENDED  1
#define FAR_FUTURE (36500 * DAY_NS) /* no sum is over because of the time */

struct local {
	int64_t id;
	uint64_t from_ns, to_ns;
	bool has_label;
};

struct model {
	struct local epoch[MAX_NR];
	size_t nr;
	int64_t flush[MAX_NR]; /* by number, from 1: the id of its epoch */
	uint64_t nr_flushes;
	/* As in struct ship_cursor; cursor: next. */
	uint64_t cursor, last, rewound, until;
	bool has_ended;
	struct ship_how how;
	bool is_mixed; /* some epochs are shipped alone, with all that they have */
	struct shipments shipments; /* by number, from 1 */
	bool is_void[MAX_SENT];
	uint64_t nr_shipments, nr_batches;
	unsigned int nr_rewinds;
	unsigned int nr_in_a_row; /* of ship_rewind_gives_up() */
	int64_t damaged;          /* the id of an epoch that is never sent; 0: none */
};

static struct local *local_of(struct model *m, int64_t id)
{
	for (size_t i = 0; i < m->nr; i++) {
		if (m->epoch[i].id == id)
			return &m->epoch[i];
	}
	ck_abort_msg("no epoch %d", (int)id);
	return NULL;
}

/* The next flush is an epoch. */
static void add_flush(struct model *m, uint64_t from_ns, bool has_label)
{
	const int64_t id = (int64_t)++m->nr_flushes;

	m->epoch[m->nr++] =
		(struct local){ id, from_ns, from_ns + 10 * MINUTE_NS, has_label };
	m->flush[id] = id;
}

static void move_flushes(struct model *m, int64_t from, int64_t to)
{
	for (uint64_t f = 1; f <= m->nr_flushes; f++) {
		if (m->flush[f] == from)
			m->flush[f] = to;
	}
}

/* Retention: epochs without a label that begin in one unit become the first of them. */
static void roll(struct model *m, uint64_t unit_ns, uint64_t before_ns)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct local *to = &m->epoch[i];

		if (to->has_label || (to->from_ns / unit_ns + 1) * unit_ns > before_ns)
			continue;
		for (size_t k = m->nr; --k > i;) {
			const struct local *e = &m->epoch[k];

			if (e->has_label ||
			    e->from_ns / unit_ns != to->from_ns / unit_ns)
				continue;
			if (e->to_ns > to->to_ns)
				to->to_ns = e->to_ns;
			move_flushes(m, e->id, to->id);
			memmove(&m->epoch[k], &m->epoch[k + 1],
				(--m->nr - k) * sizeof(*m->epoch));
		}
	}
}

static void make_epoch(struct model *m, int64_t id, uint64_t last,
		       struct ship_epoch *out)
{
	const struct local *e = local_of(m, id);
	uint64_t first = 1;

	while (m->flush[first] != id)
		first++;
	*out = (struct ship_epoch){ .id = id,
				    .run = 1,
				    .label = strdup(e->has_label ? "x" : ""),
				    .from_ns = e->from_ns,
				    .to_ns = e->to_ns,
				    .run_state = m->has_ended ? RUN_ENDED : 0,
				    .first_flush = first,
				    .last_flush = last,
				    .received = last - first + 1 };
}

/* What find_due() in ship.c selects, in its order. */
static void find_due(struct model *m, struct ship_due *due)
{
	for (uint64_t f = m->cursor + 1; f <= m->nr_flushes; f++) {
		struct ship_epoch e;
		struct ship_how how = m->how;
		bool is_newest = true;

		for (uint64_t k = f + 1; k <= m->nr_flushes; k++)
			is_newest &= m->flush[k] != m->flush[f];
		if (!is_newest)
			continue;
		make_epoch(m, m->flush[f], f, &e);
		if (m->is_mixed && f % 7 < 2)
			how.sums_ns = 0;
		ck_assert_int_eq(ship_due_take(due, &how, &e, false), 0);
		if (due->nr && m->rewound)
			due->epoch[due->nr - 1].is_complete = true;
		ship_epoch_fini(&e);
	}
	ship_due_end(due);
}

static bool has_epoch(const struct ship_epoch *e, int64_t id)
{
	for (size_t i = 0; i < e->nr_members; i++) {
		if (e->member[i].id == id)
			return true;
	}
	return e->id == id;
}

/* turn: of the batch */
static void ship_epoch(struct model *m, const struct ship_epoch *e, uint64_t turn)
{
	const uint64_t nr = ++m->nr_shipments;
	const struct shipment of = { .host = 1, .at = 2, .nr = nr, .turn = turn };

	ck_assert_uint_lt(nr, MAX_SENT);

	for (uint64_t f = 1; f <= m->nr_flushes; f++) {
		const struct flushes one = { f, f };

		if (has_epoch(e, m->flush[f]) && m->flush[f] != m->damaged)
			ck_assert_int_eq(shipments_add(&m->shipments, &of, &one), 0);
	}
	if (m->rewound && e->first_flush < m->rewound)
		m->rewound = e->first_flush;
	if (e->last_flush > m->cursor)
		m->cursor = e->last_flush;
	if (e->last_flush > m->last)
		m->last = e->last_flush;
}

/* ship_read_shipments(). */
static void find_live(const struct model *m, uint64_t first, struct shipments *out)
{
	const struct shipments *all = &m->shipments;

	for (size_t i = 0; i < all->nr; i++) {
		const struct shipment *s = &all->shipment[i];

		if (m->is_void[s->nr] || all->flushes[s->to - 1].last < first)
			continue;
		for (size_t k = s->from; k < s->to; k++)
			ck_assert_int_eq(shipments_add(out, s, &all->flushes[k]), 0);
	}
	ck_assert_int_eq(shipments_mark(out), 0);
}

/* ship_void(). */
static void void_contained(struct model *m, const struct shipments *list)
{
	for (size_t i = 0; i < list->nr; i++)
		m->is_void[list->shipment[i].nr] |= list->shipment[i].contained;
}

static void void_replaced(struct model *m, uint64_t first)
{
	struct shipments list = { 0 };

	find_live(m, first, &list);
	void_contained(m, &list);
	shipments_fini(&list);
}

/* The database's table of flushes, each a row. */
static sqlite3 *make_flushes(const struct model *m)
{
	sqlite3 *h;

	ck_assert_int_eq(sqlite3_open(":memory:", &h), SQLITE_OK);
	ck_assert_int_eq(sql_exec(h, "CREATE TABLE flush (run INTEGER, seq INTEGER,"
				     " merged INTEGER, epoch INTEGER)"),
			 0);
	for (uint64_t f = 1; f <= m->nr_flushes; f++)
		ck_assert_int_eq(sql_do(h, "INSERT INTO flush VALUES (1, ?1, 0, ?2)",
					"ii", (int64_t)f, m->flush[f]),
				 0);
	return h;
}

static void set_next(struct model *m, sqlite3 *h, uint64_t next)
{
	m->rewound = next < m->last ? next + 1 : 0;
	m->cursor = m->until = next;
	if (m->rewound)
		ck_assert_int_eq(ship_rewind_until(h, 1, next, m->last, &m->until), 0);
}

/* ship_cursor_rewind(): whether it went back. */
static bool rewind_cursor(struct model *m, uint64_t first)
{
	uint64_t next = m->cursor, before;
	sqlite3 *h = make_flushes(m);

	do {
		struct shipments list = { 0 };

		before = next;
		find_live(m, first, &list);
		ck_assert_int_eq(ship_rewind(h, 1, &list, &next), 0);
		shipments_fini(&list);
		first = next + 1;
	} while (next < before);
	before = m->cursor;
	if (next < before)
		set_next(m, h, next);
	sqlite3_close(h);
	m->nr_rewinds += next < before;
	return next < before;
}

/* ship_cursor_end_rewind(). */
static void end_rewind(struct model *m)
{
	struct shipments list = { 0 };
	uint64_t next = m->last;
	sqlite3 *h = make_flushes(m);

	find_live(m, m->rewound, &list);
	ck_assert_int_eq(ship_rewind_overlaps(h, 1, &list, &next), 0);
	if (ship_rewind_gives_up(&m->nr_in_a_row, next < m->last)) {
		next = m->last;
		for (size_t i = 0; i < list.nr; i++)
			m->is_void[list.shipment[i].nr] |= list.shipment[i].overlaps;
	}
	void_contained(m, &list);
	set_next(m, h, next);
	sqlite3_close(h);
	shipments_fini(&list);
}

static uint64_t first_of(const struct ship_due *due)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < due->nr; i++) {
		if (due->epoch[i].first_flush < first)
			first = due->epoch[i].first_flush;
	}
	return first;
}

static void fini_due(struct ship_due *due)
{
	for (size_t i = 0; i < due->nr; i++)
		ship_epoch_fini(&due->epoch[i]);
}

/* find_epochs() in ship.c. */
static void find_epochs(struct model *m, size_t max, struct ship_due *due)
{
	due->max = max;
	find_due(m, due);
	if (m->rewound || !due->nr || first_of(due) > m->last ||
	    !rewind_cursor(m, first_of(due)))
		return;
	fini_due(due);
	memset(due, 0, sizeof(*due));
	due->max = max;
	find_due(m, due);
}

/* One batch of at most max shipments; returns their number. */
static size_t ship(struct model *m, size_t max)
{
	struct ship_due *due = calloc(1, sizeof(*due));
	size_t nr;

	ck_assert_ptr_nonnull(due);
	find_epochs(m, max, due);
	nr = due->nr;
	for (size_t i = 0; i < nr; i++)
		ship_epoch(m, &due->epoch[i], m->nr_batches + 1);
	m->nr_batches += nr > 0;
	if (m->rewound && (!nr || m->cursor >= m->until)) {
		end_rewind(m);
	} else if (nr) {
		void_replaced(m, first_of(due));
	}
	fini_due(due);
	free(due);
	return nr;
}

static void check_counts(struct model *m, uint64_t seed)
{
	unsigned int counted[MAX_NR] = { 0 };
	const struct shipments *all = &m->shipments;

	for (size_t i = 0; i < all->nr; i++) {
		const struct shipment *s = &all->shipment[i];

		for (size_t k = s->from; !m->is_void[s->nr] && k < s->to; k++) {
			for (uint64_t f = all->flushes[k].first;
			     f <= all->flushes[k].last; f++)
				counted[f]++;
		}
	}
	for (uint64_t f = 1; f <= m->nr_flushes; f++)
		ck_assert_msg(counted[f] == (m->flush[f] != m->damaged),
			      "flush %u counts %u times, SEED=%#llx", (unsigned)f,
			      counted[f], (unsigned long long)seed);
	shipments_fini(&m->shipments);
}

static void end_run(struct model *m)
{
	m->has_ended = true;
	while (ship(m, 4) || m->rewound)
		;
}

static uint64_t any(uint64_t *seed, uint64_t below)
{
	return (unit_random(seed) >> 33) % below;
}

/* The user does it, whether the epoch was shipped or not. */
static void maybe_label(struct model *m, uint64_t *seed)
{
	struct local *e = &m->epoch[any(seed, m->nr)];

	if (!any(seed, 40))
		e->has_label = !e->has_label;
}

static void maybe_roll(struct model *m, uint64_t now_ns, uint64_t *seed)
{
	if (!any(seed, 12))
		roll(m, NSEC_PER_HOUR, now_ns - any(seed, 12) * NSEC_PER_HOUR);
	if (!any(seed, 60))
		roll(m, DAY_NS, now_ns);
}

START_TEST(each_flush_counts_once)
{
	static const uint64_t lengths[] = { 0,
					    20 * MINUTE_NS,
					    NSEC_PER_HOUR,
					    2 * NSEC_PER_HOUR,
					    6 * NSEC_PER_HOUR,
					    DAY_NS };
	const uint64_t length = lengths[_i % (int)NR(lengths)];
	uint64_t seed = unit_seed(), now_ns, nr_rewinds = 0;

	for (int round = unit_rounds(12, 50); round; round--) {
		const uint64_t begun = seed;
		struct model *m = calloc(1, sizeof(*m));

		ck_assert_ptr_nonnull(m);
		m->how = (struct ship_how){ length, 1, 0 };
		m->is_mixed = _i >= (int)NR(lengths);
		now_ns = FAR_FUTURE + 2 * DAY_NS;
		for (uint64_t i = 0; i < MAX_NR - 1; i++) {
			now_ns += 10 * MINUTE_NS;
			if (!any(&seed, 200))
				now_ns -= any(&seed, 30) * 30 * MINUTE_NS;
			add_flush(m, now_ns, !any(&seed, 30));
			maybe_label(m, &seed);
			maybe_roll(m, now_ns, &seed);
			if (!any(&seed, 10))
				ship(m, 1 + any(&seed, 4));
		}
		end_run(m);
		check_counts(m, begun);
		nr_rewinds += m->nr_rewinds;
		free(m);
	}
	ck_assert(length <= NSEC_PER_HOUR / 2 || nr_rewinds);
}
END_TEST

/* Ten minutes each, from midnight; the one with number `label` has a label. */
static void add_hours(struct model *m, uint64_t nr, uint64_t label)
{
	for (uint64_t i = 0; i < 6 * nr; i++)
		add_flush(m, FAR_FUTURE + i * 10 * MINUTE_NS, i + 1 == label);
}

START_TEST(a_label_within_an_hour_that_is_rolled_up_later)
{
	struct model *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->how = (struct ship_how){ DAY_NS, 1, 0 };
	add_hours(m, 12, 63);
	while (ship(m, 4))
		;
	ck_assert_uint_eq(m->cursor, 63); /* the label ended a sum */
	roll(m, NSEC_PER_HOUR, FAR_FUTURE + 12 * NSEC_PER_HOUR);
	end_run(m);
	check_counts(m, 0);
	free(m);
}
END_TEST

/* Of the sum 1 to 62, flush 62 gets a label and cannot be read any more. */
START_TEST(an_epoch_that_cannot_be_sent_again_ends_the_sending)
{
	struct model *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->how = (struct ship_how){ DAY_NS, 1, 0 };
	add_hours(m, 12, 63);
	while (ship(m, 4))
		;
	m->epoch[61].has_label = true;
	roll(m, NSEC_PER_HOUR, FAR_FUTURE + 12 * NSEC_PER_HOUR);
	m->damaged = m->flush[62];
	m->has_ended = true;
	for (int i = 0; i < 20 && (ship(m, 4) || m->rewound); i++)
		;
	ck_assert_uint_eq(ship(m, 4), 0);
	ck_assert_uint_eq(m->rewound, 0);
	check_counts(m, 0);
	free(m);
}
END_TEST

START_TEST(a_labelled_epoch_is_not_passed_over)
{
	struct model *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->how = (struct ship_how){ DAY_NS, 1, 0 };
	add_hours(m, 12, 63);
	roll(m, NSEC_PER_HOUR, FAR_FUTURE + 12 * NSEC_PER_HOUR);
	ck_assert_uint_eq(ship(m, 1), 1); /* no room for the label's */
	ck_assert_uint_lt(m->cursor, 63);
	end_run(m);
	check_counts(m, 0);
	free(m);
}
END_TEST

/* The clock was set back by an hour after half past nine. */
START_TEST(a_clock_that_was_set_back)
{
	struct model *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->how = (struct ship_how){ DAY_NS, 1, 0 };
	add_hours(m, 9, 0);
	add_flush(m, FAR_FUTURE + 9 * NSEC_PER_HOUR, false);
	add_flush(m, FAR_FUTURE + 9 * NSEC_PER_HOUR + 10 * MINUTE_NS, false);
	for (uint64_t i = 0; i < 24; i++)
		add_flush(m, FAR_FUTURE + 8 * NSEC_PER_HOUR + i * 10 * MINUTE_NS,
			  false);
	while (ship(m, 4))
		;
	ck_assert_uint_gt(m->cursor, 48);
	roll(m, NSEC_PER_HOUR, FAR_FUTURE + 12 * NSEC_PER_HOUR);
	end_run(m);
	check_counts(m, 0);
	free(m);
}
END_TEST

/* Epochs of one second: the list ends in the middle of an hour. */
START_TEST(the_limit_of_the_list_is_no_end_of_a_sum)
{
	struct ship_due *due = calloc(1, sizeof(*due));
	const struct ship_how how = { NSEC_PER_HOUR / 3, 1, 0 };

	ck_assert_ptr_nonnull(due);
	due->max = SHIP_MAX_EPOCHS;
	for (uint64_t i = 0; i < SHIP_MAX_DUE; i++) {
		struct ship_epoch e = { .id = (int64_t)i + 1,
					.run = 1,
					.label = strdup(""),
					.from_ns = (i + 1) * NSEC_PER_SEC,
					.to_ns = (i + 2) * NSEC_PER_SEC,
					.first_flush = i + 1,
					.last_flush = i + 1 };

		ck_assert_int_eq(ship_due_take(due, &how, &e, false), 0);
		ship_epoch_fini(&e);
	}
	ship_due_end(due);
	ck_assert_uint_eq(due->nr, 1);
	ck_assert_uint_eq(due->epoch[0].last_flush, 1199);
	ship_epoch_fini(&due->epoch[0]);
	free(due);
}
END_TEST

/* An epoch after one of flushes 7 to 9, from 01:00 to 01:01. */
static const struct {
	const char *what, *label;
	int64_t run;
	uint64_t from_minute, to_minute, first_flush;
	bool joins;
} followers[] = {
	{ "the next one", "", 1, 61, 62, 10, true },
	{ "the last one of the hour", "", 1, 119, 120, 10, true },
	{ "of another run", "", 2, 61, 62, 10, false },
	{ "with a label", "x", 1, 61, 62, 10, false },
	{ "of the next hour", "", 1, 120, 121, 10, false },
	{ "after a gap", "", 1, 61, 62, 11, false },
	{ "with one of its flushes", "", 1, 61, 62, 9, false },
	{ "that ends before", "", 1, 60, 60, 10, false },
};

START_TEST(epochs_of_one_sum)
{
	const struct ship_how hours = { NSEC_PER_HOUR, 1, 0 }, none = { 0, 1, 0 };
	const struct ship_epoch last = { .run = 1,
					 .label = (char *)"",
					 .from_ns = 60 * MINUTE_NS,
					 .to_ns = 61 * MINUTE_NS,
					 .first_flush = 7,
					 .last_flush = 9,
					 .one_in = 1,
					 .nr_members = 1 };
	const struct ship_epoch e = { .run = followers[_i].run,
				      .label = (char *)followers[_i].label,
				      .from_ns = followers[_i].from_minute * MINUTE_NS,
				      .to_ns = followers[_i].to_minute * MINUTE_NS,
				      .first_flush = followers[_i].first_flush,
				      .last_flush = 12 };

	ck_assert_msg(ship_sums_joins(&hours, &last, &e) == followers[_i].joins, "%s",
		      followers[_i].what);
	ck_assert(!ship_sums_joins(&none, &last, &e));
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("due");
	TCase *tc = tcase_create("due");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, each_flush_counts_once, 0, 12);
	tcase_add_test(tc, a_label_within_an_hour_that_is_rolled_up_later);
	tcase_add_test(tc, an_epoch_that_cannot_be_sent_again_ends_the_sending);
	tcase_add_test(tc, a_labelled_epoch_is_not_passed_over);
	tcase_add_test(tc, a_clock_that_was_set_back);
	tcase_add_test(tc, the_limit_of_the_list_is_no_end_of_a_sum);
	tcase_add_loop_test(tc, epochs_of_one_sum, 0, (int)NR(followers));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
