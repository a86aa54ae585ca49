/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_gcov.c - GCC's AutoFDO format, version 2: gcc -fauto-profile=FILE
 *
 * Little-endian words (gcc/auto-profile.c): a table of names, and functions with
 * their lines and what was inlined there; positions are the line, shifted by 16
 * bits. GCC 12 crashes if a function has name number 0, so that number is not used.
 * It also crashes when it specialises a function that has more calls than entries
 * (the assertion of update_specialized_profile() in gcc/ipa-cp.cc). So a function
 * gets at least as many entries as the lines that call it have counts.
 *
 * There is one crash that a profile cannot avoid: an empty arm of a condition has no
 * line, so GCC takes its count as 0. If the arm is in a frequent loop,
 * vect_do_peeling() (gcc/tree-vect-loop-manip.cc) divides by this 0. The manual names
 * the option that avoids this.
 */
#include "config.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "report/calls/strings.h"
#include "tools/export/export.h"

#define MAGIC              0x67636461 /* "gcda" */
#define GCOV_VERSION       2
#define TAG_NAMES          0xaa000000
#define TAG_FUNCTIONS      0xac000000
#define TAG_MODULES        0xab000000
#define HIST_TYPE_INDIRECT 0 /* of a target */

struct gcov {
	struct strings names;
	struct buf functions;
	struct buf calls; /* uint64_t, by number of name */
	int err;
};

static void put_word(struct buf *b, uint32_t word)
{
	const uint32_t le = htole32(word);

	buf_put(b, &le, sizeof(le));
}

static void put_count(struct buf *b, uint64_t count)
{
	put_word(b, (uint32_t)count);
	put_word(b, (uint32_t)(count >> 32));
}

static uint32_t number(struct gcov *g, const char *name)
{
	uint32_t nr = 0;
	int err = strings_add(&g->names, name, &nr);

	if (err)
		g->err = err;
	return nr;
}

/* Adds calls to the sum of the function of that name; it is an upper bound. */
static int add_call(struct gcov *g, const char *name, uint64_t count)
{
	const uint32_t nr = number(g, name);
	const uint64_t zero = 0;
	uint64_t *calls;

	while (g->calls.len <= nr * sizeof(zero) && !g->calls.err)
		buf_put(&g->calls, &zero, sizeof(zero));
	calls = (uint64_t *)g->calls.data;
	if (!g->calls.err)
		calls[nr] += count;
	return g->calls.err;
}

static uint64_t calls_of(struct gcov *g, const char *name)
{
	const uint32_t nr = number(g, name);
	const uint64_t *calls = (const uint64_t *)g->calls.data;

	return nr < g->calls.len / sizeof(*calls) ? calls[nr] : 0;
}

/* Adds how often fn's lines, and what is inlined there, call functions. */
static int add_calls(struct gcov *g, const struct feedback_function *fn)
{
	int err = 0;

	for (size_t i = 0; i < fn->nr_lines && !err; i++) {
		const struct feedback_line *l = fn->line[i];

		for (const struct feedback_target *t = l->targets; t && !err;
		     t = t->next)
			err = add_call(g, t->name,
				       l->count > t->count ? l->count : t->count);
	}
	for (size_t i = 0; i < fn->nr_children && !err; i++)
		err = add_calls(g, fn->child[i]);
	return err;
}

static void put_line(struct gcov *g, const struct feedback_line *l)
{
	struct buf *b = &g->functions;
	uint32_t nr = 0;

	for (const struct feedback_target *t = l->targets; t; t = t->next)
		nr++;
	put_word(b, l->at.line << 16);
	put_word(b, nr);
	put_count(b, l->count);
	for (const struct feedback_target *t = l->targets; t; t = t->next) {
		put_word(b, HIST_TYPE_INDIRECT);
		put_count(b, number(g, t->name));
		put_count(b, t->count);
	}
}

static void put_function(struct gcov *g, const struct feedback_function *fn)
{
	struct buf *b = &g->functions;

	put_word(b, number(g, fn->name));
	put_word(b, (uint32_t)fn->nr_lines);
	put_word(b, (uint32_t)fn->nr_children);
	for (size_t i = 0; i < fn->nr_lines; i++)
		put_line(g, fn->line[i]);
	for (size_t i = 0; i < fn->nr_children; i++) {
		put_word(b, fn->child[i]->at.line << 16);
		put_function(g, fn->child[i]);
	}
}

static void put_names(const struct gcov *g, struct buf *b)
{
	put_word(b, (uint32_t)g->names.nr);
	for (size_t i = 0; i < g->names.nr; i++) {
		const char *name = strings_at(&g->names, (uint32_t)i);
		const size_t size = strlen(name) + 1;

		put_word(b, (uint32_t)size);
		buf_put(b, name, size);
	}
}

static int write_file(const struct gcov *g, uint32_t nr_functions)
{
	struct buf b = { 0 };
	int err;

	put_word(&b, MAGIC);
	put_word(&b, GCOV_VERSION);
	put_word(&b, 0);
	put_word(&b, TAG_NAMES);
	put_word(&b, 0); /* the length; readers ignore it */
	put_names(g, &b);
	put_word(&b, TAG_FUNCTIONS);
	put_word(&b, 0);
	put_word(&b, nr_functions);
	buf_put(&b, g->functions.data, g->functions.len);
	put_word(&b, TAG_MODULES);
	put_word(&b, 0);
	put_word(&b, 0);
	err = b.err;
	if (!err)
		fwrite(b.data, 1, b.len, stdout);
	buf_fini(&b);
	return err;
}

int export_gcov(const struct compiler_profile *f)
{
	struct gcov g = { .err = 0 };
	int err;

	number(&g, "");
	for (size_t i = 0; i < f->nr_functions && !g.err; i++)
		g.err = add_calls(&g, f->function[i]);
	for (size_t i = 0; i < f->nr_functions && !g.err; i++) {
		const struct feedback_function *fn = f->function[i];
		const uint64_t calls = calls_of(&g, fn->name);

		put_count(&g.functions,
			  fn->head_count > calls ? fn->head_count : calls);
		put_function(&g, fn);
	}
	err = g.err ? g.err : g.functions.err;
	if (!err)
		err = write_file(&g, (uint32_t)f->nr_functions);
	buf_fini(&g.functions);
	buf_fini(&g.calls);
	strings_fini(&g.names);
	return err;
}
