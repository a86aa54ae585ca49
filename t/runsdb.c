/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runsdb.c - writes a database of runs: runsdb FILE <TABLE
 *
 * A line of the table is an epoch: its label, or - for none, its length in seconds, the
 * period in microseconds, then samples of each procedure, as [IMAGE:]PROCEDURE=N or
 * PROCEDURE+OFFSET=N. Images have no files: names are captured, procedures are 4096
 * bytes each in the order of their first appearance. CONTEXT@ ahead of a word,
 * as cgroup=/a@main=5, says whose samples they are.
 */
#include "config.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/times.h"
#include "db/store.h"

#define START_NS       1767322800000000000ULL /* 2026-01-02T03:00:00Z */
#define PROCEDURE_SIZE 4096
#define MAX_NAMES      4096
#define MAX_IMAGES     64
#define MAX_CONTEXTS   16

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
} m;

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
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
		m.image[i] = (struct image_desc){ .kind = IMAGE_MODULE,
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

/* By context and image. */
typedef struct profile *profiles[MAX_CONTEXTS][MAX_IMAGES];

static void add_to(profiles all, int context, int image, const struct count *c)
{
	struct profile **profile = &all[context][image];

	if (!*profile)
		*profile = profile_new();
	if (c->n)
		check(profile_add(*profile, c), m.image_name[image]);
}

/* "image:procedure+offset=n" */
static void add_count(char *word, int context, profiles all)
{
	char *equals = strchr(word, '='), *colon = strchr(word, ':');
	char *plus = strchr(word, '+');
	struct count c = { 0 };
	int image, name;

	if (!equals)
		errx(EXIT_FAILURE, "%s: no number", word);
	*equals = '\0';
	c.n = strtoull(equals + 1, NULL, 10);
	if (plus) {
		*plus = '\0';
		c.offset = strtoull(plus + 1, NULL, 0);
	}
	if (colon)
		*colon = '\0';
	image = find_image(colon ? word : "prog");
	name = find_name(image, colon ? colon + 1 : word);
	c.offset += (uint64_t)name * PROCEDURE_SIZE;
	add_to(all, 0, image, &c);
	if (context)
		add_to(all, context, image, &c);
}

static void add_word(char *word, profiles all)
{
	char *at = strchr(word, '@');

	if (at)
		*at++ = '\0';
	add_count(at ? at : word, at ? find_context(word) : 0, all);
}

static size_t make_symbols(struct flush_symbol *out)
{
	for (int i = 0; i < m.nr_names; i++)
		out[i] = (struct flush_symbol){ &m.image[m.name[i].image],
						(uint64_t)i * PROCEDURE_SIZE,
						PROCEDURE_SIZE, m.name[i].text };
	return m.nr_names;
}

static void store_line(char *line)
{
	const char *label = strtok(line, " \n"), *seconds = strtok(NULL, " \n");
	const char *period_us = strtok(NULL, " \n");
	static struct flush_symbol symbols[MAX_NAMES];
	struct flush_profile list[MAX_CONTEXTS * MAX_IMAGES];
	profiles all = { { NULL } };
	struct flush_stream stream = { .desc = { "cpu-clock", "perf", "", "ns", 0,
						 LANDING_HEAD } };
	struct flush f = { .seq = ++m.seq,
			   .from_ns = m.now_ns,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = list,
			   .symbols = symbols };

	if (!period_us)
		errx(EXIT_FAILURE, "an epoch without length or period");
	check(store_epoch(m.store, m.now_ns, 0, strcmp(label, "-") ? label : NULL),
	      "epoch");
	stream.desc.mean_period = strtoull(period_us, NULL, 10) * 1000;
	f.duration_ns = (uint64_t)(strtod(seconds, NULL) * NSEC_PER_SEC);
	m.now_ns = f.to_ns = f.from_ns + f.duration_ns;
	for (char *word; (word = strtok(NULL, " \n"));)
		add_word(word, all);
	for (int i = 0; i < m.nr_contexts * MAX_IMAGES; i++) {
		struct profile *p = all[i / MAX_IMAGES][i % MAX_IMAGES];

		if (!p || !profile_total(p))
			continue;
		stream.received += i < MAX_IMAGES ? profile_total(p) : 0;
		list[f.nr_profiles++] =
			(struct flush_profile){ &m.image[i % MAX_IMAGES], 0,
						m.context[i / MAX_IMAGES], p };
	}
	f.nr_symbols = make_symbols(symbols);
	check(store_flush(m.store, &f), "flush");
	for (int i = 0; i < m.nr_contexts * MAX_IMAGES; i++)
		profile_free(all[i / MAX_IMAGES][i % MAX_IMAGES]);
}

int main(int argc, char **argv)
{
	const struct platform_desc platform = {
		.host = "web1",
		.arch = "x86_64",
		.cpu = "Test CPU",
		.release = "6.1.0",
		.boot_id = "00000000-0000-0000-0000-000000000001",
		.clock_hz = 2000000000,
		.nr_cpus = 2,
	};
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
