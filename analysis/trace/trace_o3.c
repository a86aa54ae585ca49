/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_o3.c - gem5's O3PipeView
 *
 * Each operation has seven lines, from fetch to retire, with the tick of each stage, or
 * 0 if it did not reach the stage. gem5 writes an operation when it frees it, for
 * example a store after younger operations, because the store queue holds it. So
 * operations wait here to be sorted; gem5's own viewer (util/o3-pipeview.py) does the
 * same. The length of a cycle is the greatest common divisor of the first operations'
 * ticks.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"
#include "base/err.h"

#define PREFIX  "O3PipeView:"
#define WAITING 4096 /* operations; then the older half is passed on */

struct o3 {
	struct trace_commits commits;
	struct trace_op op; /* whose lines are coming, in ticks */
	struct trace_op waiting[WAITING];
	size_t nr;
	bool in_op, knows_cycle;
	uint64_t ticks; /* of a cycle */
};

static bool begins(const char *head, size_t len)
{
	const size_t size = sizeof(PREFIX) - 1;

	return len >= size && !memcmp(head, PREFIX, size);
}

static void *make_o3(struct tip *t)
{
	struct o3 *o = calloc(1, sizeof(*o));

	if (o)
		o->commits.tip = t;
	return o;
}

static void o3_free(void *state)
{
	struct o3 *o = state;

	if (o)
		free(o->commits.squashed);
	free(o);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int pass_on_op(struct o3 *o, const struct trace_op *in_ticks)
{
	struct trace_op op = *in_ticks;
	int err;

	op.fetched /= o->ticks;
	op.dispatched /= o->ticks;
	op.issued /= o->ticks;
	op.completed /= o->ticks;
	op.committed /= o->ticks;
	err = trace_leave(&o->commits, &op);
	if (err)
		return err;
	if (!op.committed)
		return op.dispatched ? trace_squash(&o->commits, op.id) : 0;
	return op.dispatched ? trace_commit(&o->commits, &op) : -CPI_EFORMAT;
}

/* Passes on the oldest n of the operations that wait. */
static int pass_oldest(struct o3 *o, size_t n)
{
	int err = 0;

	o->knows_cycle = true;
	o->ticks = o->ticks ? o->ticks : 1;
	qsort(o->waiting, o->nr, sizeof(o->waiting[0]), trace_compare_ops);
	for (size_t i = 0; i < n && !err; i++)
		err = pass_on_op(o, &o->waiting[i]);
	o->nr -= n;
	memmove(o->waiting, o->waiting + n, o->nr * sizeof(o->waiting[0]));
	return err;
}

static int end_op(struct o3 *o)
{
	o->in_op = false;
	o->waiting[o->nr++] = o->op;
	if (!o->knows_cycle)
		o->ticks = gcd(gcd(gcd(o->ticks, o->op.fetched), o->op.dispatched),
			       o->op.committed);
	return o->nr == WAITING ? pass_oldest(o, WAITING / 2) : 0;
}

/* ":0xPC:MICRO_PC:NUMBER:TEXT" of an operation that begins. */
static int begin_op(struct o3 *o, uint64_t tick, const char *rest)
{
	char *end;

	o->op = (struct trace_op){ .fetched = tick };
	o->op.pc = strtoull(rest + (*rest == ':'), &end, 16);
	if (*end == ':')
		strtoull(end + 1, &end, 10);
	if (*end != ':')
		return -CPI_EFORMAT;
	o->op.id = strtoull(end + 1, &end, 10);
	if (*end != ':')
		return -CPI_EFORMAT;
	o->op.flags = trace_flags(end + 1);
	o->in_op = true;
	return trace_name_insn(&o->commits, o->op.pc, end + 1);
}

/* "TICK: OBJECT: ..." of other debug flags, or nothing. */
static bool is_other(const char *line)
{
	const size_t blanks = strspn(line, " "),
		     digits = strspn(line + blanks, "0123456789");

	return !line[blanks] || (digits && line[blanks + digits] == ':');
}

static int add_o3_line(void *state, char *data)
{
	struct o3 *o = state;
	const char *colon;
	uint64_t tick;
	char *rest;

	if (!begins(data, strlen(data)))
		return is_other(data) ? 0 : -CPI_EFORMAT;
	data += sizeof(PREFIX) - 1;
	colon = strchr(data, ':');
	if (!colon)
		return -CPI_EFORMAT;
	tick = strtoull(colon + 1, &rest, 10);
	if (rest == colon + 1)
		return -CPI_EFORMAT;
	if (!strncmp(data, "fetch:", 6))
		return begin_op(o, tick, rest);
	if (!o->in_op)
		return -CPI_EFORMAT;
	if (!strncmp(data, "dispatch:", 9))
		o->op.dispatched = tick;
	if (!strncmp(data, "issue:", 6))
		o->op.issued = tick;
	if (!strncmp(data, "complete:", 9))
		o->op.completed = tick;
	if (strncmp(data, "retire:", 7) != 0)
		return 0;
	o->op.committed = tick;
	return end_op(o);
}

static int end_o3(void *state)
{
	struct o3 *o = state;
	int err = pass_oldest(o, o->nr);

	return err ? err : trace_commits_end(&o->commits);
}

static struct trace_commits *commits(void *state)
{
	return &((struct o3 *)state)->commits;
}

const struct trace_format trace_o3 = {
	.name = "O3PipeView",
	.begins = begins,
	.make = make_o3,
	.free = o3_free,
	.add = add_o3_line,
	.end = end_o3,
	.commits = commits,
};
