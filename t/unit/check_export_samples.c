/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random samples of two machines, in contexts or in none, as weighted stacks.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "db/query/stacks.h"
#include "report/calls/export_samples.h"
#include "t/unit/dbtest.h"

#define NR_IMAGES  3
#define NR_STREAMS 3
#define NR_COMMS   3 /* the last is none */
#define NR_OFFSETS 20
#define NR_HOSTS   2

static const char *const hosts[NR_HOSTS] = { "one", "two" };
static const char *const comms[NR_COMMS] = { "comm=cc1", "comm=ld", "" };

/* A rate that changed: the time of a sample is that of its stream. */
static const struct stream_desc streams[NR_STREAMS] = {
	{ "cpu-clock", "perf", "", "ns", 1000, LANDING_AFTER_GROUP },
	{ "cpu-clock", "perf", "", "ns", 3000, LANDING_AFTER_GROUP },
	{ "page-faults", "perf", "", "events", 1, LANDING_PRECISE },
};

static uint64_t counts[NR_HOSTS][NR_IMAGES][NR_STREAMS][NR_COMMS][NR_OFFSETS];

static void make_counts(uint64_t *seed)
{
	uint64_t *n = &counts[0][0][0][0][0];

	for (size_t i = 0; i < sizeof(counts) / sizeof(*n); i++)
		n[i] = unit_random(seed) % 3 ? 0 : unit_random(seed) % 1000;
}

static struct profile *make_profile(size_t host, size_t image, size_t stream,
				    size_t first, size_t end)
{
	struct profile *p = profile_new();

	for (size_t c = first; c < end; c++) {
		for (size_t o = 0; o < NR_OFFSETS; o++) {
			const uint64_t n = counts[host][image][stream][c][o];

			if (n)
				profile_add(p, &(struct count){ .offset = o, .n = n });
		}
	}
	return p;
}

/* Everybody's profile, and those of the commands that have a name. */
static void store_host(struct db *db, size_t host, uint64_t from_ns)
{
	static const struct image_desc images[NR_IMAGES] = {
		{ .kind = IMAGE_FILE, .name = "/nonexistent/a", .build_id_size = 20 },
		{ .kind = IMAGE_FILE, .name = "/nonexistent/b", .build_id_size = 20 },
		{ .kind = IMAGE_IDLE, .name = "[idle]" },
	};
	struct platform_desc platform = test_platform;
	struct flush_profile profiles[NR_IMAGES * NR_STREAMS * NR_COMMS];
	struct flush_stream flushed[NR_STREAMS];
	const struct flush_loss loss = { 0, LOSS_UNKNOWN, "map_gap", 7 };
	struct flush f = { .seq = 1,
			   .from_ns = from_ns,
			   .to_ns = from_ns + SEC,
			   .duration_ns = SEC,
			   .streams = flushed,
			   .nr_streams = NR_STREAMS,
			   .profiles = profiles,
			   .losses = &loss,
			   .nr_losses = 1 };
	struct store *s = NULL;

	platform.host = hosts[host];
	ck_assert_int_eq(store_begin(db, &platform, from_ns, &s), 0);
	ck_assert_int_eq(store_epoch(s, from_ns, 2, NULL), 0);
	for (size_t k = 0; k < NR_STREAMS; k++) {
		flushed[k] = (struct flush_stream){ .desc = streams[k] };
		for (size_t i = 0; i < NR_IMAGES; i++) {
			struct profile *all = make_profile(host, i, k, 0, NR_COMMS);

			flushed[k].received += profile_total(all);
			profiles[f.nr_profiles++] =
				(struct flush_profile){ &images[i], (uint32_t)k, "",
							all };
			for (size_t c = 0; c + 1 < NR_COMMS; c++)
				profiles[f.nr_profiles++] = (struct flush_profile){
					&images[i], (uint32_t)k, comms[c],
					make_profile(host, i, k, c, c + 1)
				};
		}
	}
	flushed[0].received += loss.n;
	ck_assert_int_eq(store_flush(s, &f), 0);
	for (size_t i = 0; i < f.nr_profiles; i++)
		profile_free(profiles[i].profile);
	ck_assert_int_eq(store_end(s, from_ns + SEC), 0);
}

/* What came out: per host, image, context and offset, the three columns. */
struct seen {
	double value[NR_HOSTS][NR_IMAGES][NR_COMMS][NR_OFFSETS][3];
	double unknown[NR_HOSTS][3];
};

static const char *label_of(const struct export_stack *w, const char *key)
{
	for (size_t i = 0; i < w->nr_labels; i++) {
		if (!strcmp(w->label[i].key, key))
			return w->label[i].value;
	}
	return NULL;
}

static int see(void *ctx, const struct export_stack *w)
{
	const struct export_frame *f = &w->frame[w->nr_frames - 1];
	const char *comm = label_of(w, "comm"), *host = label_of(w, "host");
	const size_t h = strcmp(host, hosts[0]) != 0;
	size_t c = 0, image = 2;
	struct seen *seen = ctx;
	double *to;

	ck_assert_str_eq(host, hosts[h]);
	while (c + 1 < NR_COMMS && (!comm || strcmp(comm, comms[c] + 5) != 0))
		c++;
	if (f->image)
		image = f->image->desc.name[strlen("/nonexistent/")] == 'b';
	to = seen->value[h][image][c][f->offset];
	if (!f->image && strcmp(f->function, "[idle]") != 0) {
		ck_assert_str_eq(f->function, "[unknown] map_gap");
		to = seen->unknown[h];
	}
	for (size_t i = 0; i < 3; i++)
		to[i] += w->value[i];
	return 0;
}

static void expect(const struct seen *seen, bool apart, bool idle, uint64_t seed)
{
	struct seen *want = calloc(1, sizeof(*want));

	ck_assert_ptr_nonnull(want);
	for (size_t i = 0; i < sizeof(counts) / sizeof(uint64_t); i++) {
		const size_t o = i % NR_OFFSETS, c = i / NR_OFFSETS % NR_COMMS;
		const size_t k = i / NR_OFFSETS / NR_COMMS % NR_STREAMS;
		const size_t at = i / NR_OFFSETS / NR_COMMS / NR_STREAMS % NR_IMAGES;
		const size_t h = i / NR_OFFSETS / NR_COMMS / NR_STREAMS / NR_IMAGES;
		const double n = (double)counts[h][at][k][c][o];
		double *to =
			want->value[h][at][apart ? c : NR_COMMS - 1][at == 2 ? 0 : o];

		if (at == 2 && !idle)
			continue;
		to[k == 2] += n;
		to[2] += k < 2 ? n * (double)streams[k].mean_period : 0;
	}
	for (size_t h = 0; h < NR_HOSTS; h++) {
		want->unknown[h][0] = 7;
		want->unknown[h][2] = 7000;
	}
	ck_assert_msg(!memcmp(want, seen, sizeof(*want)), "SEED=%" PRIu64, seed);
	free(want);
}

START_TEST(samples_keep_context_machine_and_time)
{
	static const struct {
		int labels; /* auto, none, comm */
		bool idle;
	} cases[] = { { 0, false }, { 0, true }, { 1, true }, { 2, false } };
	uint64_t seed = unit_seed(), start = seed;
	struct export_request req = { .labels = EXPORT_BY_ANY };
	struct seen *seen = calloc(1, sizeof(*seen));
	struct dbtest t;
	struct db *db;
	struct export_samples w;

	ck_assert_ptr_nonnull(seen);
	dbtest_init(&t);
	make_counts(&seed);
	db = dbtest_open(&t, DB_COLLECT);
	for (size_t h = 0; h < NR_HOSTS; h++)
		store_host(db, h, (1000 + 10 * h) * SEC);
	db_close(db);
	req.select.dbs = (struct text_list){ { t.path }, 1 };
	req.select.epoch = "all";
	req.labels = cases[_i].labels;
	req.idle = cases[_i].idle;
	ck_assert_int_eq(export_samples_open(&req, &w), 0);
	ck_assert_uint_eq(w.nr_columns, 3);
	ck_assert_uint_eq(export_samples_nr_hosts(&w), 2);
	ck_assert_int_eq(w.each(&w, see, seen), 0);
	expect(seen, cases[_i].labels != 1, cases[_i].idle, start);
	export_samples_close(&w);
	free(seen);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_context_that_is_selected_is_the_label)
{
	uint64_t seed = unit_seed(), start = seed;
	struct export_request req = { .labels = EXPORT_BY_ANY };
	struct seen *seen = calloc(1, sizeof(*seen));
	struct dbtest t;
	struct export_samples w;
	struct db *db;
	double got = 0, want = 0;

	ck_assert_ptr_nonnull(seen);
	dbtest_init(&t);
	make_counts(&seed);
	db = dbtest_open(&t, DB_COLLECT);
	store_host(db, 0, 1000 * SEC);
	db_close(db);
	req.select.dbs = (struct text_list){ { t.path }, 1 };
	req.select.context[CONTEXT_COMM] = "c*";
	ck_assert_int_eq(export_samples_open(&req, &w), 0);
	ck_assert_int_eq(w.each(&w, see, seen), 0);
	for (size_t o = 0; o < NR_OFFSETS; o++) {
		got += seen->value[0][0][0][o][0];
		want += (double)(counts[0][0][0][0][o] + counts[0][0][1][0][o]);
		ck_assert(seen->value[0][0][1][o][0] == 0 &&
			  seen->value[0][0][2][o][0] == 0);
	}
	ck_assert_msg(got == want && seen->unknown[0][0] == 0, "SEED=%" PRIu64, start);
	export_samples_close(&w);
	free(seen);
	dbtest_fini(&t);
}
END_TEST

static int count_stacks(void *ctx, const struct query_stack *row)
{
	((double *)ctx)[0] += (double)row->n;
	((double *)ctx)[1] += (double)(row->n * row->nr_frames);
	return 0;
}

static int count_weighed(void *ctx, const struct export_stack *w)
{
	size_t nr = 0;

	ck_assert_str_eq(w->host, "testhost");
	ck_assert_str_eq(label_of(w, "comm") ? w->context : "[unknown command]",
			 w->context);
	for (size_t i = 0; i < w->nr_frames; i++)
		nr += !w->frame[i].inlined;
	((double *)ctx)[0] += w->value[0];
	((double *)ctx)[1] += w->value[0] * (double)nr;
	((double *)ctx)[2] += w->value[1];
	ck_assert(!label_of(w, "cut") == !strstr(w->frame[0].function, "no_room"));
	return 0;
}

/* Random stacks of two images and of unknown ones; one more had no room. */
static void store_stacks(struct db *db, uint64_t *seed)
{
	static const struct image_desc files[] = {
		{ .kind = IMAGE_FILE, .name = "/nonexistent/a", .build_id_size = 20 },
		{ .kind = IMAGE_FILE, .name = "/nonexistent/b", .build_id_size = 20 },
	};
	const struct image_desc *const images[] = { &files[0], NULL, &files[1] };
	struct flush_stream stream = test_stream;
	struct flush_tree trees[2] = { { 0, "comm=cc1", NULL }, { 0, "", NULL } };
	const struct flush_stacks stacks = { .streams = { .stream = &stream, .nr = 1 },
					     .trees = trees,
					     .nr_trees = 2,
					     .images = images,
					     .nr_images = 3 };
	const struct flush f = { .seq = 1,
				 .from_ns = 1000 * SEC,
				 .to_ns = 1001 * SEC,
				 .duration_ns = SEC,
				 .streams = &test_stream,
				 .nr_streams = 1,
				 .stacks = &stacks };
	struct store *s = dbtest_begin(db);

	for (size_t i = 0; i < 2; i++) {
		struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);

		ck_assert_int_eq(stack_tree_add(t, NULL, 0, STACK_NO_ROOM, 1), 0);
		for (int k = 0; k < 50; k++) {
			const size_t nr = 1 + unit_random(seed) % 20;
			struct stack_frame frames[20];

			for (size_t n = 0; n < nr; n++)
				frames[n] =
					(struct stack_frame){ unit_random(seed) % 3,
							      unit_random(seed) % 9 };
			ck_assert_int_eq(stack_tree_add(t, frames, nr, STACK_ENDED,
							1 + unit_random(seed) % 9),
					 0);
		}
		stream.received += stack_tree_total(t);
		trees[i].tree = t;
	}
	ck_assert_int_eq(store_flush(s, &f), 0);
	for (size_t i = 0; i < 2; i++)
		stack_tree_free((struct stack_tree *)trees[i].tree);
	ck_assert_int_eq(store_end(s, 1001 * SEC), 0);
}

START_TEST(call_stacks_come_with_all_frames)
{
	uint64_t seed = unit_seed(), start = seed;
	struct export_request req = { .labels = EXPORT_BY_ANY };
	double want[2] = { 0 }, got[3] = { 0 };
	struct dbtest t;
	struct export_samples w;
	struct db *db;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_stacks(db, &seed);
	db_close(db);
	req.select.dbs = (struct text_list){ { t.path }, 1 };
	req.call_stacks = true;
	ck_assert_int_eq(export_samples_open(&req, &w), 0);
	ck_assert_int_eq(query_stacks(w.sel.db, &w.sel.query, count_stacks, want), 0);
	ck_assert_int_eq(w.each(&w, count_weighed, got), 0);
	/* What had no room is a frame that says so. */
	ck_assert_msg(got[0] == want[0] && got[1] == want[1] + 2 &&
			      got[2] == want[0] * (double)test_stream.desc.mean_period,
		      "SEED=%" PRIu64 ": %f %f", start, got[0], want[0]);
	export_samples_close(&w);
	req.select.event = "cycles";
	ck_assert_int_eq(export_samples_open(&req, &w), -ENODATA);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("export samples");
	TCase *tc = tcase_create("export samples");

	tcase_add_loop_test(tc, samples_keep_context_machine_and_time, 0, 4);
	tcase_add_test(tc, a_context_that_is_selected_is_the_label);
	tcase_add_test(tc, call_stacks_come_with_all_frames);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
