/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_callgrind.c - callgrind's format, version 1
 *
 * Each stack's cost is written at once, because readers add up equal lines. Only calls
 * are summed here: stacks repeat them often, but a program has few. As in valgrind's
 * own files, the cost of inlined code belongs to the procedure around it, in another
 * file (fi=). There are no labels.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/calls/strings.h"
#include "tools/export/export.h"

#define UNKNOWN "???"

/* The number of a name; there are fewer than 2^32. */
struct cost_procedure {
	uint64_t object, file, function;
};

/* An instruction of a procedure. If it is inlined, its line is in another file. */
struct position {
	struct cost_procedure in;
	uint64_t file, line, address;
};

struct call {
	struct hnode node;
	struct call_key {
		struct position from;
		struct cost_procedure to;
		uint64_t line; /* where that begins */
	} key;
	struct call *next;
	double value[];
};

struct callgrind {
	const struct export_samples *w;
	struct strings objects, files, functions;
	struct position
		at; /* the position of the newest line, as the reader knows it */
	bool is_known;
	struct hmap calls;
	struct call *first, **end; /* as they came */
	struct arena memory;
	struct position *stack; /* innermost first */
	size_t depth, cap;
	double total[EXPORT_MAX_COLUMNS];
};

/*
 * Writes the number of a name, with the name itself the first time. That changes the
 * reader's position.
 */
static int name(struct callgrind *c, struct strings *s, const char *key,
		const char *text, uint64_t *out)
{
	const size_t before = s->nr;
	struct buf clean = { 0 };
	uint32_t nr;
	int err;

	text_put_clean(&clean, text && *text ? text : UNKNOWN);
	err = strings_add(s, buf_str(&clean), &nr);
	if (!err)
		err = clean.err;
	if (!err && s->nr > before) {
		printf("%s=(%" PRIu32 ") %s\n", key, nr, buf_str(&clean));
		c->is_known = false;
	}
	if (!err)
		*out = nr;
	buf_fini(&clean);
	return err;
}

/* f is the frame of the procedure, inner that of the innermost inlined call. */
static int locate(struct callgrind *c, const struct export_frame *f,
		  const struct export_frame *inner, struct position *out)
{
	const char *file = f->begin.file ? f->begin.file : f->line.file;
	int err = name(c, &c->objects, "ob", f->image ? f->image->desc.name : NULL,
		       &out->in.object);

	out->line = (uint64_t)inner->line.line;
	out->address = inner->address;
	if (!err)
		err = name(c, &c->files, "fl", file, &out->in.file);
	if (!err)
		err = name(c, &c->functions, "fn", f->function, &out->in.function);
	if (!err)
		err = name(c, &c->files, "fl", inner->line.file, &out->file);
	return err;
}

/* Reduces a stack to its procedures, without inlined calls. */
static int locate_all(struct callgrind *c, const struct export_stack *w)
{
	const struct export_frame *inner = w->frame;
	struct position *grown;
	int err = 0;

	c->depth = 0;
	for (size_t i = 0; i < w->nr_frames && !err; i++) {
		const struct export_frame *f = &w->frame[i];

		if (f->inlined && i + 1 < w->nr_frames)
			continue;
		grown = grow(c->stack, c->depth, &c->cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		c->stack = grown;
		err = locate(c, f, inner, &c->stack[c->depth++]);
		inner = f + 1;
	}
	return err;
}

static bool same_procedure(const struct cost_procedure *a,
			   const struct cost_procedure *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void go_to(struct callgrind *c, const struct position *p)
{
	if (!c->is_known || !same_procedure(&c->at.in, &p->in)) {
		printf("ob=(%" PRIu64 ")\nfl=(%" PRIu64 ")\nfn=(%" PRIu64 ")\n",
		       p->in.object, p->in.file, p->in.function);
		c->at.file = p->in.file;
	}
	if (p->file != c->at.file)
		printf("%s=(%" PRIu64 ")\n", p->file == p->in.file ? "fe" : "fi",
		       p->file);
	c->at = *p;
	c->is_known = true;
}

static void put_costs(const struct callgrind *c, const struct position *p,
		      const double *value)
{
	printf("0x%" PRIx64 " %" PRIu64, p->address, p->line);
	for (size_t i = 0; i < c->w->nr_columns; i++)
		printf(" %.0f", round(value[i]));
	putchar('\n');
}

static struct call *find_call(struct callgrind *c, const struct call_key *key)
{
	const uint64_t hash = hash_bytes(0, key, sizeof(*key));
	struct call *call;

	for (struct hnode *n = hmap_first(&c->calls, hash); n; n = hmap_next(n)) {
		call = container_of(n, struct call, node);
		if (!memcmp(&call->key, key, sizeof(*key)))
			return call;
	}
	call = arena_alloc(&c->memory,
			   sizeof(*call) + c->w->nr_columns * sizeof(call->value[0]));
	if (!call || hmap_insert(&c->calls, &call->node, hash))
		return NULL;
	call->key = *key;
	*c->end = call;
	c->end = &call->next;
	return call;
}

/*
 * Whether the same call occurs again further in; its time is already part of that
 * one's.
 */
static bool recurs(const struct callgrind *c, size_t i)
{
	for (size_t k = 1; k < i; k++) {
		if (same_procedure(&c->stack[k].in, &c->stack[i].in) &&
		    same_procedure(&c->stack[k - 1].in, &c->stack[i - 1].in))
			return true;
	}
	return false;
}

static int add_calls(struct callgrind *c, const struct export_stack *w)
{
	for (size_t i = 1, frame = 0; i < c->depth; i++, frame++) {
		struct call_key key = { .from = c->stack[i], .to = c->stack[i - 1].in };
		struct call *call;

		while (w->frame[frame].inlined)
			frame++;
		if (recurs(c, i))
			continue;
		key.line = (uint64_t)w->frame[frame].begin.line;
		call = find_call(c, &key);
		if (!call)
			return -ENOMEM;
		for (size_t k = 0; k < c->w->nr_columns; k++)
			call->value[k] += w->value[k];
	}
	return 0;
}

static int put_stack(void *ctx, const struct export_stack *w)
{
	struct callgrind *c = ctx;
	int err = locate_all(c, w);

	if (err)
		return err;
	go_to(c, &c->stack[0]);
	put_costs(c, &c->stack[0], w->value);
	for (size_t i = 0; i < c->w->nr_columns; i++)
		c->total[i] += w->value[i];
	return add_calls(c, w);
}

/* Samples do not say how often it was called, so this says once. */
static void put_calls(struct callgrind *c)
{
	for (const struct call *call = c->first; call; call = call->next) {
		const struct cost_procedure *to = &call->key.to;

		go_to(c, &call->key.from);
		printf("cob=(%" PRIu64 ")\ncfi=(%" PRIu64 ")\ncfn=(%" PRIu64
		       ")\ncalls=1 0x0 %" PRIu64 "\n",
		       to->object, to->file, to->function, call->key.line);
		put_costs(c, &call->key.from, call->value);
	}
}

/* Spaces separate events, so a name must not have any. */
static void put_event(const struct export_column *column)
{
	const bool is_time = column->is_time && !column->is_amount;

	putchar(' ');
	for (const char *s = is_time ? "time_ns" : column->event; *s; s++)
		putchar(isalnum((unsigned char)*s) || *s == '-' ? *s : '_');
	if (column->is_amount)
		fputs("-amount", stdout);
}

static void put_head(const struct export_samples *w)
{
	struct buf hosts = { 0 }, clean = { 0 };

	select_hosts(&w->sel, &hosts);
	text_put_clean(&clean, buf_str(&hosts));
	printf("# callgrind format\nversion: 1\ncreator: cpi %s\ncmd: %s\n"
	       "positions: instr line\nevents:",
	       PACKAGE_VERSION, buf_str(&clean));
	for (size_t i = 0; i < w->nr_columns; i++)
		put_event(&w->column[i]);
	printf("\n\n");
	buf_fini(&hosts);
	buf_fini(&clean);
}

int export_callgrind(struct export_samples *w)
{
	struct callgrind c = { .w = w };
	int err;

	c.end = &c.first;
	arena_init(&c.memory, 0);
	put_head(w);
	err = w->each(w, put_stack, &c);
	if (!err) {
		put_calls(&c);
		printf("totals:");
		for (size_t i = 0; i < w->nr_columns; i++)
			printf(" %.0f", round(c.total[i]));
		putchar('\n');
	}
	strings_fini(&c.objects);
	strings_fini(&c.files);
	strings_fini(&c.functions);
	hmap_fini(&c.calls);
	arena_fini(&c.memory);
	free(c.stack);
	return err;
}
