/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_kanata.c - the log of the Konata viewer
 *
 * Lines of fields separated by tabs: C (cycles pass), I (an operation is fetched), L
 * (text of an operation), S (it enters a stage), R (it retires or is thrown away). The
 * text of pane 0 is "PC: disassembly"; the RSD core labels a branch that the execution
 * stage found mispredicted.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/hmap.h"

#define MAX_FIELDS   4
#define MISPREDICTED "Br-pred-miss-ex"

struct op {
	struct hnode node;
	struct trace_op o;
	bool has_pc, dispatched;
};

struct kanata {
	struct trace_commits commits;
	struct hmap ops; /* in flight */
	uint64_t cycle;
	struct trace_op now[TIP_MAX_WIDTH]; /* what commits in this cycle */
	unsigned int nr_now;
	bool begun;
};

static struct op *op_of(struct hnode *n)
{
	return container_of(n, struct op, node);
}

static bool begins(const char *head, size_t len)
{
	return len >= 6 && !memcmp(head, "Kanata", 6);
}

static void *make_kanata(struct tip *t)
{
	struct kanata *k = calloc(1, sizeof(*k));

	if (k)
		k->commits = (struct trace_commits){ .tip = t, .has_labels = true };
	return k;
}

static void kanata_free(void *state)
{
	struct kanata *k = state;
	struct hnode *n, *next;

	if (!k)
		return;
	hmap_for_each (&k->ops, n, next)
		free(op_of(n));
	hmap_fini(&k->ops);
	free(k->commits.squashed);
	free(k);
}

static struct op *find_op(const struct kanata *k, uint64_t id)
{
	struct hnode *n;

	for (n = hmap_first(&k->ops, hash_u64(id)); n; n = hmap_next(n)) {
		if (op_of(n)->o.id == id)
			return op_of(n);
	}
	return NULL;
}

/* A whole field as a number. */
static bool read_number(const char *text, int base, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, base);
	return end != text && !*end && !errno;
}

static int begin_op(struct kanata *k, uint64_t id)
{
	struct op *op;

	if (find_op(k, id))
		return -CPI_EFORMAT;
	if (k->ops.nr == TRACE_MAX_OPS)
		return -CPI_ELIMIT;
	op = calloc(1, sizeof(*op));
	if (!op)
		return -ENOMEM;
	op->o.id = id;
	op->o.fetched = k->cycle;
	if (hmap_insert(&k->ops, &op->node, hash_u64(id))) {
		free(op);
		return -ENOMEM;
	}
	return 0;
}

static int add_text(struct kanata *k, struct op *op, const char *pane, const char *text)
{
	char *end;

	if (strstr(text, MISPREDICTED))
		op->o.flags |= TIP_MISPREDICTED;
	if (strcmp(pane, "0") != 0 || op->has_pc)
		return 0;
	op->o.pc = strtoull(text, &end, 16);
	op->has_pc = end != text && *end == ':';
	if (!op->has_pc)
		return 0;
	op->o.flags |= trace_flags(end + 1);
	return trace_name_insn(&k->commits, op->o.pc, end + 1);
}

static int enter_stage(struct kanata *k, struct op *op, const char *stage)
{
	if (!strcmp(stage, "Ds") && !op->dispatched) {
		op->dispatched = true;
		op->o.dispatched = k->cycle;
	}
	if (!strcmp(stage, "Is")) /* again, where it is issued again */
		op->o.issued = k->cycle;
	if (!strcmp(stage, "Rw"))
		op->o.completed = k->cycle;
	if (strcmp(stage, "Cm") != 0)
		return 0;
	if (!op->has_pc || !op->dispatched)
		return -CPI_EFORMAT;
	if (k->nr_now == TIP_MAX_WIDTH)
		return -CPI_ELIMIT;
	op->o.committed = k->cycle;
	k->now[k->nr_now++] = op->o;
	return 0;
}

/* The cycle is over. */
static int commit_now(struct kanata *k)
{
	int err = 0;

	qsort(k->now, k->nr_now, sizeof(k->now[0]), trace_compare_ops);
	for (unsigned int i = 0; i < k->nr_now && !err; i++)
		err = trace_commit(&k->commits, &k->now[i]);
	k->nr_now = 0;
	return err;
}

static int retire(struct kanata *k, struct op *op, const char *how)
{
	int err = 0;

	if (!strcmp(how, "1") && op->dispatched && !op->o.committed)
		err = trace_squash(&k->commits, op->o.id);
	if (!op->o.committed || !op->o.completed)
		op->o.completed = k->cycle;
	if (!err)
		err = trace_leave(&k->commits, &op->o);
	hmap_remove(&k->ops, &op->node);
	free(op);
	return err;
}

static int pass_cycles(struct kanata *k, const char *text, bool absolute)
{
	uint64_t n;
	int err = commit_now(k);

	if (err)
		return err;
	if (absolute) { /* Konata's own logs begin with -1 */
		k->cycle = strtoll(text, NULL, 10);
		return k->begun ? -CPI_EFORMAT : 0;
	}
	if (!read_number(text, 10, &n) || n > UINT32_MAX)
		return -CPI_EFORMAT;
	k->cycle += n;
	k->begun = true;
	return 0;
}

/* The fields of a line, of which the last is all that is left. */
static int split(char *line, char **field)
{
	int nr = 0;

	for (char *tab = line; nr < MAX_FIELDS && tab; nr++) {
		field[nr] = tab;
		tab = nr + 1 < MAX_FIELDS ? strchr(tab, '\t') : NULL;
		if (tab)
			*tab++ = '\0';
	}
	return nr;
}

static int add_kanata_line(void *state, char *data)
{
	struct kanata *k = state;
	char *field[MAX_FIELDS] = { 0 };
	const int nr = split(data, field);
	const char kind = field[0][0];
	struct op *op;
	uint64_t id;

	if (kind == 'C' && nr >= 2)
		return pass_cycles(k, field[1], field[0][1] == '=');
	if (!kind || !strchr("ILSR", kind) || field[0][1])
		return 0; /* the title, ends of stages, dependencies */
	if (nr < (kind == 'I' ? 2 : 4) || !read_number(field[1], 10, &id))
		return -CPI_EFORMAT;
	if (kind == 'I')
		return begin_op(k, id);
	op = find_op(k, id);
	if (!op)
		return kind == 'L' ? 0 : -CPI_EFORMAT; /* text may come late */
	if (kind == 'L')
		return add_text(k, op, field[2], field[3]);
	if (kind == 'S')
		return enter_stage(k, op, field[3]);
	return retire(k, op, field[3]);
}

static int end_kanata(void *state)
{
	struct kanata *k = state;
	int err = commit_now(k);

	return err ? err : trace_commits_end(&k->commits);
}

static struct trace_commits *commits(void *state)
{
	return &((struct kanata *)state)->commits;
}

const struct trace_format trace_kanata = {
	.name = "Kanata",
	.begins = begins,
	.make = make_kanata,
	.free = kanata_free,
	.add = add_kanata_line,
	.end = end_kanata,
	.commits = commits,
};
