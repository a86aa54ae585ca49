/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "report/select/client.h"
#include "report/select/facts.h"
#include "t/unit/dbtest.h"

/* Opens all epochs of t's database. No cpid is asked to store. */
static void open_all(struct dbtest *t, enum select_how how, struct selection *sel)
{
	const struct select_request req = { .dbs = { .nr = 1, .item = { t->path } },
					    .as_stored = true };

	ck_assert_int_eq(select_open_epochs(&req, "all", how, sel), 0);
}

/* The samples in the rows of a report. */
static uint64_t rows(const struct selection *sel)
{
	struct profile *p = profile_new();
	uint64_t n;

	ck_assert_int_eq(query_profiles(sel->db, &sel->query, dbtest_sum, p, NULL), 0);
	n = profile_total(p);
	profile_free(p);
	return n;
}

static uint64_t wal_bytes(const struct db *db)
{
	uint64_t file, wal;

	ck_assert_int_eq(db_size(db, &file, &wal), 0);
	return wal;
}

static const enum select_how hows[] = { SELECT_APART, SELECT_TOGETHER, SELECT_SUMS };

START_TEST(the_rows_add_up_to_the_totals_while_a_writer_commits)
{
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	struct selection sel;

	ck_assert_int_eq(dbtest_flush(s, 1, 0x10, 3), 0);
	open_all(&t, hows[_i], &sel);
	ck_assert_int_eq(dbtest_flush(s, 2, 0x20, 4), 0);
	ck_assert_uint_eq(sel.streams.stream[0].stored, 3);
	ck_assert_uint_eq(rows(&sel), 3);
	ck_assert_int_eq(dbtest_flush(s, 3, 0x30, 5), 0);
	ck_assert_uint_eq(rows(&sel), 3);
	select_close(&sel);

	open_all(&t, hows[_i], &sel);
	ck_assert_uint_eq(sel.streams.stream[0].stored, 12);
	ck_assert_uint_eq(rows(&sel), 12);
	select_close(&sel);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_report_that_was_read_lets_the_wal_be_emptied)
{
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	struct selection sel;

	ck_assert_int_eq(dbtest_flush(s, 1, 0x10, 3), 0);
	open_all(&t, SELECT_TOGETHER, &sel);
	ck_assert_uint_eq(rows(&sel), 3);
	ck_assert_int_eq(dbtest_flush(s, 2, 0x20, 4), 0);
	ck_assert_uint_gt(wal_bytes(db), 0);
	select_end_read(&sel);
	ck_assert_int_eq(dbtest_flush(s, 3, 0x30, 5), 0);
	ck_assert_uint_eq(wal_bytes(db), 0);
	select_close(&sel);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* Both streams have lost samples by one name; the event selects one of the streams. */
static const struct {
	const char *event;
	uint64_t sum;
} events[] = { { NULL, 12 }, { "cycles", 5 }, { "cpu-clock", 7 } };

START_TEST(losses_of_one_name_count_once)
{
	struct flush_stream stream[] = { test_stream, test_stream };
	const struct flush_loss losses[] = { { 0, LOSS_LOST, "ring_lost", 5 },
					     { 1, LOSS_LOST, "ring_lost", 7 } };
	const struct flush f = { .seq = 1,
				 .streams = stream,
				 .nr_streams = 2,
				 .losses = losses,
				 .nr_losses = NR(losses) };
	struct dbtest t;
	struct store *s;
	struct db *db = dbtest_make(&t, &s);
	const struct select_request req = { .dbs = { .nr = 1, .item = { t.path } },
					    .event = events[_i].event,
					    .as_stored = true };
	struct selection sel;
	uint64_t sum = 0;
	int named = 0;

	stream[0].desc.event = "cycles";
	stream[1].desc.event = "cpu-clock";
	stream[0].received = 5;
	stream[1].received = 7;
	ck_assert_int_eq(store_flush(s, &f), 0);
	ck_assert_int_eq(select_open_epochs(&req, "all", SELECT_APART, &sel), 0);
	ck_assert_uint_eq(sel.losses.nr, NR(losses));
	for (size_t i = 0; i < sel.losses.nr; i++) {
		const uint64_t n = report_loss(&sel, i, LOSS_LOST);

		sum += n;
		named += n > 0;
	}
	ck_assert_int_eq(named, 1);
	ck_assert_uint_eq(sum, events[_i].sum);
	select_close(&sel);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_daemon_that_accepts_nobody_is_a_timeout)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct sockaddr *to = (const struct sockaddr *)&address;
	struct buf reply = { 0 };
	int queued, listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct dbtest t;

	dbtest_init(&t);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", t.dir);
	ck_assert_int_eq(bind(listener, to, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 0), 0);
	queued = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(queued, to, sizeof(address)), 0);
	ck_assert_int_eq(client_call(address.sun_path, CPI_CONTROL_STATUS, "",
				     NSEC_PER_SEC / 10, &reply),
			 -ETIMEDOUT);
	ck_assert_uint_eq(reply.len, 0);
	close(queued);
	close(listener);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("select");
	TCase *tc = tcase_create("select");

	tcase_add_loop_test(tc, the_rows_add_up_to_the_totals_while_a_writer_commits, 0,
			    NR(hows));
	tcase_add_test(tc, a_report_that_was_read_lets_the_wal_be_emptied);
	tcase_add_loop_test(tc, losses_of_one_name_count_once, 0, NR(events));
	tcase_add_test(tc, a_daemon_that_accepts_nobody_is_a_timeout);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
