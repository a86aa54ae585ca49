/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/core/sql.h"
#include "report/explain/explainer_private.h"
#include "t/unit/dbtest.h"

/* A database whose samples are all of one cgroup. */
static void make_database(struct dbtest *t)
{
	struct flush_stream stream = test_stream;
	struct profile *p = profile_new();
	struct flush_profile profiles[] = { { &test_image, 0, "", p },
					    { &test_image, 0, "cgroup=/a", p } };
	struct flush f = { .seq = 1,
			   .from_ns = 1001 * SEC,
			   .to_ns = 1002 * SEC,
			   .duration_ns = SEC,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = profiles,
			   .nr_profiles = NR(profiles) };
	struct store *s;
	struct db *db = dbtest_make(t, &s);

	stream.received = 5;
	profile_add(p, &(struct count){ .offset = 0x10, .n = 5 });
	ck_assert_int_eq(store_flush(s, &f), 0);
	profile_free(p);
	store_free(s);
	db_close(db);
}

/* As retention does it while a report is made. */
static void remove_contexts(struct dbtest *t)
{
	struct db *db = dbtest_open(t, DB_WRITE);

	ck_assert_int_eq(
		sql_exec(db_handle(db), "DELETE FROM profile WHERE context != 0"), 0);
	db_close(db);
}

static void open_explainer(const struct dbtest *t, struct explain_request *req,
			   struct explainer **x)
{
	req->select.dbs = (struct text_list){ { t->path }, 1 };
	req->select.context[CONTEXT_CGROUP] = "/a";
	ck_assert_int_eq(explainer_open(req, x), 0);
}

static void read_log(const struct dbtest *t, char *text, size_t size)
{
	FILE *f = fopen(t->log, "re");

	text[0] = '\0';
	if (!f)
		return;
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
}

START_TEST(an_image_whose_samples_cannot_be_read_is_an_error_that_is_logged)
{
	struct explain_request req = { .cpu = NULL };
	struct explainer *x = NULL;
	struct image *im = NULL;
	char text[512];
	struct dbtest t;

	make_database(&t);
	open_explainer(&t, &req, &x);
	select_end_read(
		&explainer_scope(x)->sel); /* as a view that waits for a pager */
	remove_contexts(&t);
	ck_assert_int_lt(explainer_load_image(x, 1, &im), 0);
	read_log(&t, text, sizeof(text));
	ck_assert_msg(strstr(text, t.path), "%s", text);
	ck_assert_msg(strstr(text, "cgroup"), "%s", text);
	explainer_close(x);
	dbtest_fini(&t);
}
END_TEST

/* Samples and branches of two events, and pairs, which are in the windows' stream. */
static void make_pairs(struct dbtest *t)
{
	struct flush_stream streams[] = { test_stream, test_stream };
	struct flush_stream stream = test_stream;
	struct profile *p = profile_new();
	struct edges *edges = edges_new();
	struct flush_profile profiles[] = { { &test_image, 0, "", p },
					    { &test_image, 1, "", p } };
	struct flush_edges branches[] = {
		{ &test_image, &test_image, 0, EDGES_BRANCH, edges },
		{ &test_image, &test_image, 1, EDGES_BRANCH, edges },
	};
	struct flush_edges pairs = { &test_image, &test_image, 0, EDGES_PACE, edges };
	struct flush_windows windows = { .streams = { &stream, 1, NULL, 0 },
					 .edges = &pairs,
					 .nr_edges = 1 };
	struct flush f = { .seq = 1,
			   .from_ns = 1001 * SEC,
			   .to_ns = 1002 * SEC,
			   .duration_ns = SEC,
			   .streams = streams,
			   .nr_streams = NR(streams),
			   .profiles = profiles,
			   .nr_profiles = NR(profiles),
			   .edges = branches,
			   .nr_edges = NR(branches),
			   .windows = &windows };
	struct store *s;
	struct db *db = dbtest_make(t, &s);

	streams[0].received = streams[1].received = 5;
	streams[1].desc.event = "cycles";
	stream.desc.event = "windows";
	profile_add(p, &(struct count){ .offset = 0x10, .n = 5 });
	ck_assert_int_eq(edges_add(edges, &(struct edge){ 0x10, 4, .n = 7 }), 0);
	ck_assert_int_eq(store_flush(s, &f), 0);
	profile_free(p);
	edges_free(edges);
	store_free(s);
	db_close(db);
}

static const struct {
	const char *event;
	uint64_t branches;
} selected[] = { { NULL, 14 }, { "cpu-clock", 7 }, { "cycles", 7 } };

START_TEST(pairs_are_used_whatever_event_is_selected)
{
	struct explain_request req = { .cpu = NULL };
	struct explainer *x = NULL;
	struct image *im = NULL;
	struct dbtest t;

	make_pairs(&t);
	req.select.dbs = (struct text_list){ { t.path }, 1 };
	req.select.event = selected[_i].event;
	ck_assert_int_eq(explainer_open(&req, &x), 0);
	ck_assert_int_eq(explainer_load_image(x, 1, &im), 0);
	ck_assert_int_eq(explainer_load_edges(x), 0);
	ck_assert_ptr_nonnull(x->edges[EDGES_PACE]);
	ck_assert_uint_eq(edges_total(x->edges[EDGES_PACE]), 7);
	ck_assert_ptr_nonnull(x->edges[EDGES_BRANCH]);
	ck_assert_uint_eq(edges_total(x->edges[EDGES_BRANCH]), selected[_i].branches);
	explainer_close(x);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("explainer");
	TCase *tc = tcase_create("explainer");

	tcase_add_test(
		tc, an_image_whose_samples_cannot_be_read_is_an_error_that_is_logged);
	tcase_add_loop_test(tc, pairs_are_used_whatever_event_is_selected, 0,
			    NR(selected));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
