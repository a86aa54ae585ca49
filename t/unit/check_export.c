/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the formats make of random stacks with callers, recursion, inlined functions,
 * several images and hostile names, compared with the stacks themselves.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/path.h"
#include "base/text.h"
#include "report/calls/export_labels.h"
#include "report/calls/export_tree.h"
#include "t/unit/unit.h"
#include "tools/export/export.h"
#ifdef HAVE_PROTOBUF_C
#include "tools/export/pprof.pb-c.h"
#endif

#define NR_STACKS 300
#define MAX_DEPTH 6 /* without what is inlined */
#define COLUMNS   3

static const char *const names[] = {
	"main",     "a;b",    "c\nd",
	"e\"f",     "(7) g",  "caf\xc3\xa9",
	"\xff\xfe", "[0x40]", "std::vector<int>",
	"last 12",  "",       "\033[31m",
};

static const struct query_image images[] = {
	{ 1,
	  { .kind = IMAGE_FILE,
	    .name = "/bin/one",
	    .build_id = { 0xab },
	    .build_id_size = 1 } },
	{ 2, { .kind = IMAGE_FILE, .name = "/lib/tw\no;" } },
	{ 3, { .kind = IMAGE_KERNEL, .name = "[kernel]" } },
};

struct stack {
	struct export_frame frame[MAX_DEPTH * 3];
	size_t nr;
	const char *context;
	double value[COLUMNS];
};

static struct stack stacks[NR_STACKS];

/* An instruction: what is inlined there, and its procedure, always the same. */
static size_t make_frames(uint64_t *seed, struct export_frame *out)
{
	const uint64_t nr = unit_random(seed) % NR(names), at = unit_random(seed) % 3;

	for (size_t i = 0; i <= at; i++) {
		const size_t name = (nr + (at - i) * 5) % NR(names);
		const int line = nr % 2 ? (int)(nr * 10 + at + i) : 0;

		out[i] = (struct export_frame){
			.image = &images[nr % NR(images)],
			.offset = nr * 16 + at,
			.address = 0x1000 + nr * 16 + at,
			.start = nr * 16,
			.function = names[name],
			.line = { line ? "x.c" : NULL, line },
			.begin = { line ? "x.c" : NULL, nr % 2 ? (int)nr * 10 : 0 },
			.inlined = i < at,
		};
	}
	return at + 1;
}

static void make_stacks(uint64_t *seed)
{
	for (size_t i = 0; i < NR_STACKS; i++) {
		const size_t depth = 1 + unit_random(seed) % MAX_DEPTH;
		struct stack *s = &stacks[i];

		for (size_t k = s->nr = 0; k < depth; k++)
			s->nr += make_frames(seed, &s->frame[s->nr]);
		s->context =
			unit_random(seed) % 4 ? names[unit_random(seed) % 3] : NULL;
		for (size_t c = 0; c < COLUMNS; c++)
			s->value[c] = (double)(unit_random(seed) % 100);
		s->value[0]++;
	}
}

static const char *name_of_comm(const char *comm, char name[CONTEXT_NAME_SIZE])
{
	const char *const values[NR_CONTEXT_KINDS] = { [CONTEXT_COMM] = comm };

	context_make(values, name);
	return name;
}

static int give(struct export_samples *w, export_stack_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < NR_STACKS && !err; i++) {
		const struct stack *s = &stacks[i];
		char name[CONTEXT_NAME_SIZE];
		struct export_labels labels;
		struct export_stack stack = { .frame = s->frame,
					      .nr_frames = s->nr,
					      .context = s->context,
					      .host = "host",
					      .label = labels.at,
					      .value = s->value };

		export_labels_make(&labels, NULL, 1u << CONTEXT_COMM,
				   s->context ? name_of_comm(s->context, name) : NULL,
				   "host");
		stack.nr_labels = labels.nr;
		err = fn(ctx, &stack);
	}
	return err;
}

/* A selection of one epoch with two events, of which the first measures time. */
struct fixture {
	struct query_epoch epoch;
	struct query_stream stream[2];
	struct export_samples w;
	char path[64];
};

static void set_up(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->epoch = (struct query_epoch){ .id = 1,
					 .label = "",
					 .to_ns = 1000,
					 .host = "host",
					 .arch = "x86_64",
					 .cpu = "CPU",
					 .release = "6.1" };
	f->stream[0] = (struct query_stream){
		.id = 1, .desc = { "cpu-clock", "perf", "", "ns", 1000, 0 }
	};
	f->stream[1] = (struct query_stream){
		.id = 2, .desc = { "cache:misses", "perf", "", "events", 10, 0 }
	};
	f->w.sel.epochs = (struct query_epochs){ &f->epoch, 1 };
	f->w.sel.streams = (struct query_streams){ f->stream, 2 };
	ck_assert_int_eq(events_init(&f->w.ev, &f->w.sel.streams, 0), 0);
	f->w.column[0].event = "cpu-clock";
	f->w.column[1].event = "cache:misses";
	f->w.column[2] =
		(struct export_column){ .event = "cpu-clock", .is_time = true };
	f->w.nr_columns = COLUMNS;
	f->w.amount[0] = 2;
	f->w.each = give;
	strcpy(f->path, "/tmp/check_export.XXXXXX");
	close(mkstemp(f->path));
}

static void tear_down(struct fixture *f)
{
	events_fini(&f->w.ev);
	unlink(f->path);
}

/* What an export writes to stdout. */
static char *written(struct fixture *f, int (*export)(struct export_samples *w),
		     size_t *size)
{
	const int saved = dup(STDOUT_FILENO);
	FILE *file;
	char *text;
	long end;

	fflush(stdout);
	file = fopen(f->path, "w+e");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(dup2(fileno(file), STDOUT_FILENO), 0);
	ck_assert_int_eq(export(&f->w), 0);
	fflush(stdout);
	ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
	close(saved);
	fseek(file, 0, SEEK_END);
	end = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)end + 1);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(fread(text, 1, (size_t)end, file), (size_t)end);
	fclose(file);
	*size = (size_t)end;
	return text;
}

static double sum_of(size_t column)
{
	double sum = 0;

	for (size_t i = 0; i < NR_STACKS; i++)
		sum += stacks[i].value[column];
	return sum;
}

/* The names of a node's path below its root, one on each line. */
static void path_of(const struct export_tree *t, uint32_t at, struct buf *out)
{
	if (t->at[at]->parent == EXPORT_NONE)
		return;
	path_of(t, t->at[at]->parent, out);
	buf_printf(out, "%s\n",
		   strings_at(&t->strings, t->frame[t->at[at]->frame]->function));
}

static bool has_path(const struct stack *s, const char *root, const char *path,
		     const char *context)
{
	struct buf b = { 0 };
	bool same;

	for (size_t i = s->nr; i--;)
		buf_printf(&b, "%s\n", s->frame[i].function);
	same = !strcmp(buf_str(&b), path) && !strcmp(root, context);
	buf_fini(&b);
	return same;
}

static const char *root_of(const struct stack *s)
{
	const char *name = s->frame[s->nr - 1].image->desc.name;

	return s->context ? s->context : path_base(name);
}

/* Nodes of equal names may be of different images: their sums are compared. */
static double tree_sum(const struct export_tree *t, const struct stack *s,
		       size_t column)
{
	double sum = 0;

	for (size_t i = 0; i < t->nr; i++) {
		struct buf path = { 0 };
		uint32_t root = (uint32_t)i;

		while (t->at[root]->parent != EXPORT_NONE)
			root = t->at[root]->parent;
		path_of(t, (uint32_t)i, &path);
		if (has_path(s,
			     strings_at(&t->strings,
					t->frame[t->at[root]->frame]->function),
			     buf_str(&path), root_of(s)))
			sum += t->at[i]->value[column];
		buf_fini(&path);
	}
	return sum;
}

static double stacks_sum(const struct stack *like, size_t column)
{
	struct buf path = { 0 };
	double sum = 0;

	for (size_t i = like->nr; i--;)
		buf_printf(&path, "%s\n", like->frame[i].function);
	for (size_t i = 0; i < NR_STACKS; i++) {
		if (has_path(&stacks[i], root_of(&stacks[i]), buf_str(&path),
			     root_of(like)))
			sum += stacks[i].value[column];
	}
	buf_fini(&path);
	return sum;
}

START_TEST(a_tree_has_each_stack_once)
{
	uint64_t seed = unit_seed(), start = seed;
	struct export_tree t;
	struct fixture f;
	double sum = 0;

	set_up(&f);
	make_stacks(&seed);
	ck_assert_int_eq(export_tree_gather(&t, &f.w, _i), 0);
	for (size_t i = 0; i < t.nr; i++) {
		ck_assert(t.at[i]->parent == EXPORT_NONE || t.at[i]->parent < i);
		sum += t.at[i]->value[2];
	}
	ck_assert_msg(sum == sum_of(2), "SEED=%" PRIu64, start);
	for (size_t i = 0; i < NR_STACKS; i += 10)
		ck_assert_msg(tree_sum(&t, &stacks[i], 0) == stacks_sum(&stacks[i], 0),
			      "SEED=%" PRIu64 " stack %zu", start, i);
	export_tree_fini(&t);
	tear_down(&f);
}
END_TEST

START_TEST(collapsed_stacks_are_one_line_each)
{
	uint64_t seed = unit_seed(), start = seed;
	struct fixture f;
	char *text, *next;
	double sum = 0;
	size_t size;

	set_up(&f);
	make_stacks(&seed);
	text = written(&f, export_collapsed, &size);
	ck_assert_uint_eq(strlen(text), size);
	for (char *line = text; *line; line = next + 1) {
		char *space;

		next = strchr(line, '\n');
		ck_assert_ptr_nonnull(next);
		*next = '\0';
		space = strrchr(line, ' ');
		ck_assert_msg(space && space > line && space[-1] != ';', "%s", line);
		ck_assert_ptr_null(strstr(line, ";;"));
		sum += strtod(space, NULL);
	}
	ck_assert_msg(sum == sum_of(0), "SEED=%" PRIu64, start);
	free(text);
	tear_down(&f);
}
END_TEST

/* Costs of a function and what it called, as a reader of callgrind adds them up. */
START_TEST(callgrind_has_costs_once_and_calls)
{
	uint64_t seed = unit_seed(), start = seed;
	struct fixture f;
	double self = 0, calls = 0, want = 0;
	bool is_call = false;
	size_t size;
	char *text;

	set_up(&f);
	make_stacks(&seed);
	text = written(&f, export_callgrind, &size);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		double cost;

		if (sscanf(line, "0x%*x %*u %lf", &cost) == 1) {
			*(is_call ? &calls : &self) += cost;
			is_call = false;
		} else if (!strncmp(line, "calls=", 6)) {
			is_call = true;
		} else if (!strncmp(line, "events:", 7)) {
			ck_assert_str_eq(line,
					 "events: cpu-clock cache_misses time_ns");
		}
	}
	ck_assert_msg(self == sum_of(0), "SEED=%" PRIu64, start);
	/* Each different pair of caller and called procedures of a stack. */
	for (size_t i = 0; i < NR_STACKS; i++) {
		const struct export_frame *pair[MAX_DEPTH][2];
		const struct export_frame *called = NULL;
		size_t nr = 0;

		for (size_t k = 0; k < stacks[i].nr; k++) {
			const struct export_frame *frame = &stacks[i].frame[k];
			bool again = false;

			if (frame->inlined)
				continue;
			for (size_t p = 0; called && p < nr; p++)
				again |= pair[p][0]->start == frame->start &&
					 pair[p][1]->start == called->start;
			if (called && !again) {
				pair[nr][0] = frame;
				pair[nr++][1] = called;
				want += stacks[i].value[0];
			}
			called = frame;
		}
	}
	ck_assert_msg(calls == want, "SEED=%" PRIu64 ": %f of %f", start, calls, want);
	free(text);
	tear_down(&f);
}
END_TEST

#ifdef HAVE_PROTOBUF_C
static Pprof__Profile *read_pprof(struct fixture *f)
{
	Pprof__Profile *p;
	char *text, *bytes = malloc(1 << 22);
	size_t size;
	gzFile in;
	int nr;

	text = written(f, export_pprof, &size);
	free(text);
	in = gzopen(f->path, "rb");
	nr = gzread(in, bytes, 1 << 22);
	ck_assert_int_gt(nr, 0);
	gzclose(in);
	p = pprof__profile__unpack(NULL, (size_t)nr, (uint8_t *)bytes);
	free(bytes);
	return p;
}

/* Numbers are given in order, from 1, so that an index is number - 1. */
START_TEST(pprof_gives_back_each_stack)
{
	uint64_t seed = unit_seed(), start = seed;
	Pprof__Profile *p;
	struct fixture f;

	set_up(&f);
	make_stacks(&seed);
	p = read_pprof(&f);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->n_sample, NR_STACKS);
	for (size_t i = 0; i < NR_STACKS; i++) {
		const Pprof__Sample *sample = p->sample[i];
		size_t k = 0;

		for (size_t c = 0; c < COLUMNS; c++)
			ck_assert(sample->value[c] == (int64_t)stacks[i].value[c]);
		for (size_t l = 0; l < sample->n_location_id; l++) {
			const Pprof__Location *at =
				p->location[sample->location_id[l] - 1];

			ck_assert_uint_eq(at->id, sample->location_id[l]);
			for (size_t n = 0; n < at->n_line; n++, k++) {
				struct buf clean = { 0 };
				const Pprof__Function *fn =
					p->function[at->line[n]->function_id - 1];

				ck_assert_uint_lt(k, stacks[i].nr);
				text_put_clean(&clean, stacks[i].frame[k].function);
				ck_assert_msg(
					!strcmp(p->string_table[fn->name],
						buf_str(&clean)) &&
						at->line[n]->line ==
							stacks[i].frame[k].line.line &&
						at->address ==
							stacks[i].frame[k].address,
					"SEED=%" PRIu64 " stack %zu", start, i);
				buf_fini(&clean);
			}
		}
		ck_assert_uint_eq(k, stacks[i].nr);
		ck_assert_uint_eq(sample->n_label, stacks[i].context ? 2 : 1);
	}
	pprof__profile__free_unpacked(p, NULL);
	tear_down(&f);
}
END_TEST
#endif

#define ALL_KINDS ((1u << NR_CONTEXT_KINDS) - 1)

static const struct {
	unsigned int kinds;
	const char *context, *want;
} labels[] = {
	{ ALL_KINDS, "comm=cc1", "comm=cc1 host=h" },
	{ ALL_KINDS, NULL, "host=h" },
	{ ALL_KINDS, "label=night ly", "label=night ly host=h" },
	{ ALL_KINDS, "process=a:b:12", "process=a:b:12 comm=a:b pid=12 host=h" },
	{ ALL_KINDS, "process=[other]", "process=[other] host=h" },
	{ ALL_KINDS, "cgroup=/system.slice/ssh.service",
	  "cgroup=/system.slice/ssh.service unit=ssh.service host=h" },
	{ ALL_KINDS,
	  "cgroup=/docker/"
	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	  "cgroup=/docker/"
	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	  " container=0123456789ab host=h" },
	{ ALL_KINDS, "comm=a\ncgroup=/x/y.service\nlabel=l\nprocess=a:1\n",
	  "comm=a cgroup=/x/y.service unit=y.service label=l process=a:1 pid=1 "
	  "host=h" },
	{ 1u << CONTEXT_LABEL, "comm=a\nlabel=l\n", "label=l host=h" },
	{ 1u << CONTEXT_PROCESS, "comm=a\nprocess=a:1\n",
	  "process=a:1 comm=a pid=1 host=h" },
};

START_TEST(contexts_have_labels)
{
	struct export_labels l;
	struct buf got = { 0 };

	export_labels_make(&l, NULL, labels[_i].kinds, labels[_i].context, "h");
	for (size_t i = 0; i < l.nr; i++)
		buf_printf(&got, "%s%s=%s", i ? " " : "", l.at[i].key, l.at[i].value);
	ck_assert_str_eq(buf_str(&got), labels[_i].want);
	buf_fini(&got);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("export");
	TCase *tc = tcase_create("export");

	tcase_add_loop_test(tc, a_tree_has_each_stack_once, 0, 2);
	tcase_add_test(tc, collapsed_stacks_are_one_line_each);
	tcase_add_test(tc, callgrind_has_costs_once_and_calls);
#ifdef HAVE_PROTOBUF_C
	tcase_add_test(tc, pprof_gives_back_each_stack);
#endif
	tcase_add_loop_test(tc, contexts_have_labels, 0, NR(labels));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
