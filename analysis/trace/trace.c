/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.c - splits a trace into lines or records, and turns operations into spans
 */
#include "config.h"

#include "analysis/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"

#define MAX_LINE 65536

struct trace {
	const struct trace_format *format;
	void *state;
	struct buf rest; /* of a line or record whose end has not come yet */
	uint64_t where;
};

static const struct trace_format *const formats[] = { &trace_kanata, &trace_o3,
						      &trace_tokens };

int trace_new(const char *head, size_t len, struct tip *t, struct trace **out)
{
	struct trace *tr;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!formats[i]->begins(head, len))
			continue;
		tr = calloc(1, sizeof(*tr));
		if (!tr)
			return -ENOMEM;
		tr->format = formats[i];
		tr->state = formats[i]->make(t);
		if (!tr->state) {
			free(tr);
			return -ENOMEM;
		}
		*out = tr;
		return 0;
	}
	return -CPI_EFORMAT;
}

void trace_free(struct trace *tr)
{
	if (!tr)
		return;
	tr->format->free(tr->state);
	buf_fini(&tr->rest);
	free(tr);
}

int trace_set_watch(struct trace *tr, const struct trace_watch *watch)
{
	if (!tr->format->commits)
		return -ENOTSUP;
	tr->format->commits(tr->state)->watch = watch;
	return 0;
}

const char *trace_name(const struct trace *tr)
{
	return tr->format->name;
}

uint64_t trace_where(const struct trace *tr)
{
	return tr->where;
}

static int add_one(struct trace *tr, char *data)
{
	tr->where++;
	return tr->format->add(tr->state, data);
}

static int feed_lines(struct trace *tr, char *data, size_t len)
{
	int err = 0;

	while (len && !err) {
		const char *end = memchr(data, '\n', len);
		const size_t part = end ? (size_t)(end - data) : len;

		if (tr->rest.len + part > MAX_LINE) {
			tr->where++;
			return -CPI_EFORMAT;
		}
		buf_put(&tr->rest, data, part);
		if (!end)
			return tr->rest.err;
		if (tr->rest.len && tr->rest.data[tr->rest.len - 1] == '\r')
			tr->rest.len--;
		buf_putc(&tr->rest, '\0');
		err = tr->rest.err ? tr->rest.err : add_one(tr, tr->rest.data);
		buf_reset(&tr->rest);
		data += part + 1;
		len -= part + 1;
	}
	return err;
}

static int feed_records(struct trace *tr, char *data, size_t len)
{
	const size_t size = tr->format->record;
	int err = 0;

	while (len && !err) {
		size_t part = size - tr->rest.len < len ? size - tr->rest.len : len;

		if (part == size) { /* no need to copy a whole one */
			err = add_one(tr, data);
		} else {
			buf_put(&tr->rest, data, part);
			err = tr->rest.err;
			if (!err && tr->rest.len == size) {
				err = add_one(tr, tr->rest.data);
				buf_reset(&tr->rest);
			}
		}
		data += part;
		len -= part;
	}
	return err;
}

int trace_feed(struct trace *tr, char *data, size_t len)
{
	return tr->format->record ? feed_records(tr, data, len)
				  : feed_lines(tr, data, len);
}

int trace_end(struct trace *tr)
{
	int err = 0;

	if (tr->rest.len && tr->format->record) {
		tr->where++;
		return -CPI_ETRUNCATED;
	}
	if (tr->rest.len)
		err = feed_lines(tr, (char[]){ 10 }, 1);
	return err ? err : tr->format->end(tr->state);
}

static bool is_word(const char *text, size_t len, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strlen(words[i]) == len && !strncasecmp(text, words[i], len))
			return true;
	}
	return false;
}

#define IS_WORD(text, len, words) \
	is_word(text, len, words, sizeof(words) / sizeof((words)[0]))

unsigned int trace_flags(const char *text)
{
	/* RISC-V, AArch64 and x86; beside these, what begins with j. */
	static const char *const branches[] = {
		"b",    "beq",  "bne",   "blt",    "bge",  "bltu", "bgeu",   "beqz",
		"bnez", "blez", "bgez",  "bltz",   "bgtz", "bgt",  "ble",    "bgtu",
		"bleu", "bl",   "blr",   "br",     "cbz",  "cbnz", "tbz",    "tbnz",
		"ret",  "call", "tail",  "mret",   "sret", "uret", "c.beqz", "c.bnez",
		"c.j",  "c.jr", "c.jal", "c.jalr", "eret", "loop", "iret",
	};
	static const char *const calls[] = { "call", "bl", "blr", "c.jal", "c.jalr" };
	static const char *const links[] = { "jal", "jalr" };
	unsigned int flags = TIP_TOLD;
	const char *operand;
	size_t len;

	text += strspn(text, " \t");
	/* gem5 writes "CALL_NEAR_I : st ..." for each operation of one of x86. */
	len = strcspn(text, strstr(text, " : ") ? " \t_" : " \t");
	operand = text + len + strspn(text + len, " \t");
	if (IS_WORD(text, len, branches) || text[0] == 'j' || text[0] == 'J' ||
	    !strncasecmp(text, "b.", 2))
		flags |= TIP_BRANCHES;
	if (IS_WORD(text, len, calls) ||
	    (IS_WORD(text, len, links) &&
	     (!strncmp(operand, "ra", 2) || !strncmp(operand, "x1,", 3))))
		flags |= TIP_CALLS;
	return flags;
}

int trace_leave(const struct trace_commits *c, const struct trace_op *op)
{
	return c->watch ? c->watch->op(c->watch->ctx, op) : 0;
}

enum trace_kind trace_kind(const char *text)
{
	/* RISC-V's and AArch64's, and gem5's micro-operations of x86. */
	static const char *const loads[] = {
		"lb",     "lbu",   "lh",    "lhu",    "lw",     "lwu",   "ld",
		"lr.w",   "lr.d",  "flh",   "flw",    "fld",    "flq",   "c.lw",
		"c.ld",   "c.flw", "c.fld", "c.lwsp", "c.ldsp", "ldr",   "ldrb",
		"ldrh",   "ldrsb", "ldrsh", "ldrsw",  "ldp",    "ldur",  "ldurb",
		"ldurh",  "ldxr",  "ldaxr", "ldar",   "ldfp",   "ldbig", "ldst",
		"ldfp87", "ldstl",
	};
	static const char *const stores[] = {
		"sb",    "sh",   "sw",   "sd",   "sc.w",  "sc.d",  "fsh",    "fsw",
		"fsd",   "fsq",  "c.sw", "c.sd", "c.fsw", "c.fsd", "c.swsp", "c.sdsp",
		"str",   "strb", "strh", "stp",  "stur",  "sturb", "sturh",  "stxr",
		"stlxr", "stlr", "st",   "stfp", "stbig", "stul",  "stfp87",
	};
	const char *operation = strstr(text, " : "); /* of an instruction of x86 */
	size_t len;

	if (operation)
		text = operation + 3;
	text += strspn(text, " \t");
	len = strcspn(text, " \t");
	if (IS_WORD(text, len, loads))
		return TRACE_LOAD;
	return IS_WORD(text, len, stores) ? TRACE_STORE : TRACE_ALU;
}

int trace_name_insn(struct trace_commits *c, uint64_t pc, const char *text)
{
	return tip_name(c->tip, pc, text + strspn(text, " \t"));
}

int trace_compare_ops(const void *va, const void *vb)
{
	const struct trace_op *a = va, *b = vb;

	return (a->id > b->id) - (a->id < b->id);
}

int trace_squash(struct trace_commits *c, uint64_t id)
{
	if (c->nr_squashed == TRACE_MAX_OPS)
		return -CPI_ELIMIT;
	if (GROW(c->squashed, c->nr_squashed))
		return -ENOMEM;
	c->squashed[c->nr_squashed++] = id;
	return 0;
}

/*
 * Whether an operation between two that commit was squashed. Removes those that are
 * older than the second one.
 */
static bool was_squashed(struct trace_commits *c, uint64_t after, uint64_t before)
{
	bool found = false;
	size_t kept = 0;

	for (size_t i = 0; i < c->nr_squashed; i++) {
		if (c->squashed[i] >= before)
			c->squashed[kept++] = c->squashed[i];
		else
			found |= c->squashed[i] > after;
	}
	c->nr_squashed = kept;
	return found;
}

/*
 * Adds the cycles before the group: empty until its oldest operation was dispatched,
 * then stalled by it.
 */
static int tell_waiting(struct trace_commits *c)
{
	const struct trace_op *oldest = &c->group[0];
	const uint64_t now = oldest->committed;
	struct tip_span s = { .cycle = c->told, .what = TIP_EMPTY };
	uint64_t from = oldest->dispatched;
	int err = 0;

	if (!c->told || c->told >= now)
		return 0;
	from = from < c->told ? c->told : from > now ? now : from;
	s.nr = from - c->told;
	if (s.nr)
		err = tip_add(c->tip, &s);
	s = (struct tip_span){ .cycle = from,
			       .nr = now - from,
			       .what = TIP_STALLS,
			       .n = 1,
			       .insn = { { oldest->pc, oldest->flags } } };
	if (!err && s.nr)
		err = tip_add(c->tip, &s);
	return err;
}

static int tell_group(struct trace_commits *c)
{
	struct tip_span s = {
		.cycle = c->group[0].committed, .nr = 1, .what = TIP_COMMITS, .n = c->n
	};
	int err = tell_waiting(c);

	for (unsigned int i = 0; i < c->n; i++)
		s.insn[i] = (struct tip_insn){ c->group[i].pc, c->group[i].flags };
	if (!err)
		err = tip_add(c->tip, &s);
	for (unsigned int i = 0; i < c->n && !err; i++)
		err = tip_add_entry(c->tip, c->group[i].pc, c->group[i].fetched,
				    c->group[i].dispatched);
	c->told = s.cycle + 1;
	c->n = 0;
	return err;
}

/* The youngest so far: what came behind it was thrown away. */
static void note_flush(struct trace_commits *c, struct trace_op *youngest)
{
	if (youngest->flags & TIP_MISPREDICTED)
		return;
	youngest->flags |= !c->has_labels && youngest->flags & TIP_BRANCHES
				   ? TIP_MISPREDICTED
				   : TIP_FLUSHES;
}

int trace_commit(struct trace_commits *c, const struct trace_op *op)
{
	struct trace_op *youngest = c->n ? &c->group[c->n - 1] : NULL;
	int err = 0;

	if (youngest && (op->id <= youngest->id || op->committed < youngest->committed))
		return -CPI_EFORMAT;
	if (youngest && was_squashed(c, youngest->id, op->id))
		note_flush(c, youngest);
	if (youngest && op->committed != youngest->committed)
		err = tell_group(c);
	if (err)
		return err;
	if (c->n == TIP_MAX_WIDTH)
		return -CPI_ELIMIT;
	c->group[c->n++] = *op;
	return 0;
}

int trace_commits_end(struct trace_commits *c)
{
	return c->n ? tell_group(c) : 0;
}
