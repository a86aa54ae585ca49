/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runsdb.c - writes a database of runs: runsdb FILE <TABLE
 *
 * A line of the table is an epoch: its label, or - for none, its length in seconds, the
 * period in microseconds, then samples of each procedure, as [IMAGE:]PROCEDURE=N or
 * PROCEDURE+OFFSET=N; =N,T adds T ticks, of 4 ms each, to N samples of cpu-clock.
 * Images have no files: names are captured, procedures are 4096 bytes each in the order
 * of their first appearance. One called /NAME is a program, others are the kernel's
 * modules. CONTEXT@ ahead of a word, as cgroup=/a@main=5, says whose samples they are;
 * & in it is a newline, so that comm=a&cgroup=/b& is a context of two kinds.
 *
 * A word with ';' is call stacks, the outermost frame first: A;B;C=N, where each is
 * [IMAGE:]PROCEDURE; "jit:" is code made at run time, "idle:" an idle CPU, and
 * "?NUMBER" a place that no image has. MARK!A;B=N does not begin where a thread does (a
 * number); MARK!;=N has no frames. CONTEXT@ is as above, but comm=NAME@ has its stacks
 * alone.
 */
#include "config.h"

#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/store.h"
#include "t/makedb.h"

#define PROCEDURE_SIZE 4096
#define MAX_NAMES      4096
#define MAX_IMAGES     64
#define MAX_CONTEXTS   16
#define MAX_FRAMES     64
#define TICK_NS        4000000

enum { CLOCK, TICKS, NR_STREAMS };

struct name {
	int image;
	char *text;
};

static struct {
	char *image_name[MAX_IMAGES];
	struct image_desc image[MAX_IMAGES];
	int nr_images;
	struct name name[MAX_NAMES];
	int nr_names;
	char *context[MAX_CONTEXTS]; /* the first is "", of all samples */
	int nr_contexts;
	struct store *store;
	uint64_t now_ns, seq;
	struct stack_tree *tree[MAX_CONTEXTS]; /* of the line that is read, or NULL */
} m;

static enum image_kind kind_of(const char *name)
{
	if (!strcmp(name, "jit"))
		return IMAGE_JIT;
	if (*name == '/')
		return IMAGE_VDSO; /* user mode, without a file */
	return strcmp(name, "idle") ? IMAGE_MODULE : IMAGE_IDLE;
}

static int find_image(const char *name)
{
	int i = 0;

	while (i < m.nr_images && strcmp(m.image_name[i], name) != 0)
		i++;
	if (i == MAX_IMAGES)
		errx(EXIT_FAILURE, "more than %d images", MAX_IMAGES);
	if (i == m.nr_images) {
		m.image_name[i] = strdup(name);
		m.image[i] = (struct image_desc){ .kind = kind_of(name),
						  .name = m.image_name[i],
						  .build_id = { 0x10, i },
						  .build_id_size = 2 };
		m.nr_images++;
	}
	return i;
}

static int find_name(int image, const char *text)
{
	int i = 0;

	while (i < m.nr_names &&
	       (m.name[i].image != image || strcmp(m.name[i].text, text) != 0))
		i++;
	if (i == MAX_NAMES)
		errx(EXIT_FAILURE, "more than %d procedures", MAX_NAMES);
	if (i == m.nr_names)
		m.name[m.nr_names++] = (struct name){ image, strdup(text) };
	return i;
}

static int find_context(const char *name)
{
	int i = 0;

	while (i < m.nr_contexts && strcmp(m.context[i], name) != 0)
		i++;
	if (i == MAX_CONTEXTS)
		errx(EXIT_FAILURE, "more than %d contexts", MAX_CONTEXTS);
	if (i == m.nr_contexts)
		m.context[m.nr_contexts++] = strdup(name);
	return i;
}

/* By stream, context and image. */
typedef struct profile *profiles[NR_STREAMS][MAX_CONTEXTS][MAX_IMAGES];

static void add_to(profiles all, int stream, int context, int image,
		   const struct count *c)
{
	struct profile **profile = &all[stream][context][image];

	if (!*profile)
		*profile = profile_new();
	if (c->n)
		check(profile_add(*profile, c), m.image_name[image]);
}

/* "n" or "n,ticks" */
static void add_numbers(char *numbers, int context, int image, uint64_t offset,
			profiles all)
{
	for (int stream = 0; stream < NR_STREAMS && numbers; stream++) {
		struct count c = { .offset = offset };

		c.n = strtoull(strsep(&numbers, ","), NULL, 10);
		add_to(all, stream, 0, image, &c);
		if (context)
			add_to(all, stream, context, image, &c);
	}
}

/* "image:procedure+offset=n" */
static void add_count(char *word, int context, profiles all)
{
	char *equals = strchr(word, '='), *colon = strchr(word, ':');
	char *plus = strchr(word, '+');
	uint64_t offset = 0;
	int image, name;

	if (!equals)
		errx(EXIT_FAILURE, "%s: no number", word);
	*equals = '\0';
	if (plus) {
		*plus = '\0';
		offset = strtoull(plus + 1, NULL, 0);
	}
	if (colon)
		*colon = '\0';
	image = find_image(colon ? word : "prog");
	name = find_name(image, colon ? colon + 1 : word);
	offset += (uint64_t)name * PROCEDURE_SIZE;
	add_numbers(equals + 1, context, image, offset, all);
}

/* "image:procedure" or "?number" */
static struct stack_frame frame_of(char *word)
{
	char *colon = strchr(word, ':');
	int image;

	if (*word == '?') /* the number behind all images' */
		return (struct stack_frame){ MAX_IMAGES, strtoull(word + 1, NULL, 0) };
	if (colon)
		*colon = '\0';
	image = find_image(colon ? word : "prog");
	return (struct stack_frame){ image, (uint64_t)find_name(image, colon ? colon + 1
									     : word) *
						    PROCEDURE_SIZE };
}

/* "mark!outer;inner=n" */
static void add_stack(char *word, int context)
{
	struct stack_frame frame[MAX_FRAMES];
	char *equals = strchr(word, '='), *bang = strchr(word, '!');
	enum stack_mark mark = STACK_ENDED;
	size_t nr = 0;

	if (!equals)
		errx(EXIT_FAILURE, "%s: no number", word);
	*equals = '\0';
	if (bang) {
		mark = strtoul(word, NULL, 10);
		word = bang + 1;
	}
	if (!strcmp(word, ";")) /* no frames */
		word++;
	for (char *end; *word; word = end) { /* the leaf is to be first */
		end = word + strcspn(word, ";");
		if (*end)
			*end++ = '\0';
		if (nr == MAX_FRAMES)
			errx(EXIT_FAILURE, "more than %d frames", MAX_FRAMES);
		frame[MAX_FRAMES - ++nr] = frame_of(word);
	}
	if (!m.tree[context])
		m.tree[context] = stack_tree_new(STACK_MAX_NODES);
	check(stack_tree_add(m.tree[context], &frame[MAX_FRAMES - nr], nr, mark,
			     strtoull(equals + 1, NULL, 10)),
	      "stack");
}

static void add_word(char *word, profiles all)
{
	char *at = strchr(word, '@');
	int context = 0;

	if (at) {
		*at = '\0';
		for (char *c = word; (c = strchr(c, '&')); c++)
			*c = '\n';
		context = find_context(word);
		word = at + 1;
	}
	if (strchr(word, ';'))
		add_stack(word, context);
	else
		add_count(word, context, all);
}

/* A sample is in the tree of all, or in that of its command. */
static bool counts(const char *context)
{
	return !*context || !strncmp(context, "comm=", 5);
}

static void make_stacks(struct flush_stream *stream, struct flush_tree *tree,
			const struct image_desc **image, struct flush_stacks *out)
{
	*out = (struct flush_stacks){ .streams = { .stream = stream, .nr = 1 },
				      .trees = tree,
				      .images = image,
				      .nr_images = MAX_IMAGES + 1 };
	for (int i = 0; i < m.nr_contexts; i++) {
		if (!m.tree[i])
			continue;
		tree[out->nr_trees++] =
			(struct flush_tree){ 0, m.context[i], m.tree[i] };
		if (counts(m.context[i]))
			stream->received += stack_tree_total(m.tree[i]);
	}
	for (int i = 0; i < m.nr_images; i++)
		image[i] = &m.image[i];
}

static void forget_stacks(void)
{
	for (int i = 0; i < m.nr_contexts; i++) {
		stack_tree_free(m.tree[i]);
		m.tree[i] = NULL;
	}
}

static size_t make_symbols(struct flush_symbol *out)
{
	for (int i = 0; i < m.nr_names; i++)
		out[i] = (struct flush_symbol){ &m.image[m.name[i].image],
						(uint64_t)i * PROCEDURE_SIZE,
						PROCEDURE_SIZE, m.name[i].text };
	return m.nr_names;
}

/* The profiles with samples, and what their streams received. Returns how many. */
static size_t list_profiles(profiles all, struct flush_stream *streams,
			    struct flush_profile *out)
{
	size_t nr = 0;

	for (int i = 0; i < NR_STREAMS * m.nr_contexts * MAX_IMAGES; i++) {
		const int image = i % MAX_IMAGES;
		const int context = i / MAX_IMAGES % m.nr_contexts;
		const int stream = i / MAX_IMAGES / m.nr_contexts;
		struct profile *p = all[stream][context][image];

		if (!p || !profile_total(p))
			continue;
		streams[stream].received += context ? 0 : profile_total(p);
		out[nr++] = (struct flush_profile){ &m.image[image], stream,
						    m.context[context], p };
	}
	return nr;
}

static void free_profiles(profiles all)
{
	for (int i = 0; i < NR_STREAMS * MAX_CONTEXTS * MAX_IMAGES; i++)
		profile_free(((struct profile **)all)[i]);
}

static void store_line(char *line)
{
	const char *label = strtok(line, " \n"), *seconds = strtok(NULL, " \n");
	const char *period_us = strtok(NULL, " \n");
	static struct flush_symbol symbols[MAX_NAMES];
	static struct flush_profile list[NR_STREAMS * MAX_CONTEXTS * MAX_IMAGES];
	profiles all = { { { NULL } } };
	struct flush_stream streams[NR_STREAMS] = {
		{ .desc = { "cpu-clock", "perf", "", "ns", 0, LANDING_HEAD } },
		{ .desc = { "ticks", "tick", "", "ns", TICK_NS, LANDING_HEAD } },
	};
	struct flush_stream stacks_stream = { 0 };
	const struct image_desc *images[MAX_IMAGES + 1] = { NULL };
	struct flush_tree trees[MAX_CONTEXTS];
	struct flush_stacks stacks;
	struct flush f = { .seq = ++m.seq,
			   .from_ns = m.now_ns,
			   .streams = streams,
			   .profiles = list,
			   .symbols = symbols };

	if (!period_us)
		errx(EXIT_FAILURE, "an epoch without length or period");
	check(store_epoch(m.store, m.now_ns, 0, strcmp(label, "-") ? label : NULL),
	      "epoch");
	streams[CLOCK].desc.mean_period = strtoull(period_us, NULL, 10) * 1000;
	f.duration_ns = (uint64_t)(strtod(seconds, NULL) * NSEC_PER_SEC);
	m.now_ns = f.to_ns = f.from_ns + f.duration_ns;
	for (char *word; (word = strtok(NULL, " \n"));)
		add_word(word, all);
	f.nr_profiles = list_profiles(all, streams, list);
	f.nr_streams = streams[TICKS].received ? NR_STREAMS : 1;
	f.nr_symbols = make_symbols(symbols);
	stacks_stream.desc = streams[CLOCK].desc;
	make_stacks(&stacks_stream, trees, images, &stacks);
	if (stacks.nr_trees)
		f.stacks = &stacks;
	check(store_flush(m.store, &f), "flush");
	forget_stacks();
	free_profiles(all);
}

int main(int argc, char **argv)
{
	const struct platform_desc platform = makedb_platform();
	char *line = NULL;
	struct db *db;
	size_t size = 0;

	if (argc != 2)
		errx(EXIT_FAILURE, "usage: runsdb FILE <TABLE");
	m.now_ns = START_NS;
	find_context("");
	check(db_open(argv[1], DB_COLLECT, &db), argv[1]);
	check(store_begin(db, &platform, m.now_ns, &m.store), "run");
	while (getline(&line, &size, stdin) > 0)
		store_line(line);
	check(store_end(m.store, m.now_ns), "end");
	db_close(db);
	free(line);
	for (int i = 0; i < m.nr_names; i++)
		free(m.name[i].text);
	for (int i = 0; i < m.nr_images; i++)
		free(m.image_name[i]);
	for (int i = 0; i < m.nr_contexts; i++)
		free(m.context[i]);
	return EXIT_SUCCESS;
}
