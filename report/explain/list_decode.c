/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_decode.c - the instructions of a listing, with their samples
 *
 * Code and samples are both in ascending order and are merged in one pass. Without code
 * each sampled offset becomes an instruction, so no sample is left out.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isa/isa.h"
#include "base/err.h"
#include "report/explain/list.h"

#define MAX_CODE_BYTES (1u << 20)

void list_put_target(struct image *im, uint64_t bias, const struct insn *insn,
		     struct buf *out)
{
	const uint64_t offset = insn->target - bias;
	const struct symbol *s;

	if (!insn->target || image_address(im, offset) != insn->target)
		return;
	s = image_symbol_at(im, offset);
	if (s && offset != s->start)
		buf_printf(out, " <%s+0x%" PRIx64 ">", s->name, offset - s->start);
	else if (s)
		buf_printf(out, " <%s>", s->name);
}

static void describe(struct list *l, struct list_insn *at)
{
	at->line = image_line_at(l->image, at->offset);
	if (l->inlines)
		at->inlined = inlined_at(l->image, at->offset);
}

static int add_insn(struct list *l, struct buf *insns, uint64_t offset,
		    const struct insn *insn, const char *decoded)
{
	struct list_insn at = { .offset = offset, .size = insn->size };
	struct buf text = { 0 };

	at.address = insn->address;
	describe(l, &at);
	buf_puts(&text, decoded);
	list_put_target(l->image, at.address - at.offset, insn, &text);
	at.text = strdup(buf_str(&text));
	buf_put(insns, &at, sizeof(at));
	if (!at.text || insns->err || text.err) {
		if (insns->err)
			free(at.text);
		buf_fini(&text);
		return -ENOMEM;
	}
	buf_fini(&text);
	return 0;
}

static int decode(struct list *l, struct isa *isa, const uint8_t *code, size_t size,
		  struct buf *insns)
{
	const uint64_t start = l->place->start;
	char text[ISA_TEXT_SIZE];
	struct insn insn;
	size_t at = 0;
	int err = 0;

	while (at < size && !err) {
		uint64_t address = image_address(l->image, start + at);

		if (isa_decode(isa, code + at, size - at, address, &insn)) {
			/* The procedure ends inside an instruction. */
			insn = (struct insn){ .address = address, .size = size - at };
			strcpy(text, "(cut)");
		} else {
			isa_text(isa, &insn, text);
		}
		err = add_insn(l, insns, start + at, &insn, text);
		at += insn.size;
	}
	return err;
}

static int read_code(struct list *l, struct buf *insns)
{
	const uint64_t size = l->place->end - l->place->start;
	struct isa *isa = NULL;
	uint8_t *code;
	int err;

	if (l->place->kind == PLACE_UNNAMED || size > MAX_CODE_BYTES)
		return -CPI_ENOCODE;
	code = malloc(size + 1);
	if (!code)
		return -ENOMEM;
	err = image_read(l->image, l->place->start, code, size);
	if (!err)
		err = isa_open(image_machine(l->image), &isa);
	if (!err)
		err = decode(l, isa, code, size, insns);
	isa_close(isa);
	free(code);
	return err;
}

/* Without code: makes an instruction of each sampled offset. */
static int add_offsets(struct list *l, struct buf *insns)
{
	const struct place_sample *s;
	size_t nr;

	s = place_samples(l->place, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct list_insn at = { .offset = s[i].offset, .size = 1 };

		if (i && s[i - 1].offset == s[i].offset)
			continue;
		at.address = s[i].offset;
		if (l->image) {
			at.address = image_address(l->image, s[i].offset);
			describe(l, &at);
		}
		buf_put(insns, &at, sizeof(at));
	}
	return insns->err;
}

/* Both are in ascending order; every sample falls into an instruction. */
static void put_samples(struct list *l)
{
	const struct place_sample *s;
	size_t nr, at = 0;

	s = place_samples(l->place, &nr);
	for (size_t i = 0; i < nr && l->nr_insns; i++) {
		struct event_sum *t;

		while (at + 1 < l->nr_insns && l->insn[at + 1].offset <= s[i].offset)
			at++;
		t = &l->tally[at * l->scope->ev.nr + s[i].event];
		t->n += s[i].n;
		t->weight += s[i].weight;
		l->total[s[i].event].n += s[i].n;
		l->total[s[i].event].weight += s[i].weight;
		l->insn[at].taken += s[i].taken;
		l->insn[at].not_taken += s[i].not_taken;
		l->has_outcomes |= s[i].taken || s[i].not_taken;
	}
}

/* Whether ticks count as time in this procedure. */
static void look_at_ticks(struct list *l)
{
	const struct procedure_evidence *e = l->scope->evidence;
	const struct symbol *s = NULL;

	if (!e)
		return;
	if (l->image && l->place->kind != PLACE_UNNAMED)
		s = image_symbol_at(l->image, l->place->start);
	l->has_ticks = procedure_evidence_fit(e)->both;
	l->use = procedure_evidence_use(e, &l->place->image, s);
}

static const char *why_no_code(const struct list *l, int err)
{
	if (!l->image)
		return image_cache_why(&l->place->image.desc, err);
	if (l->place->kind == PLACE_UNNAMED)
		return "no symbol covers these offsets";
	if (err == -CPI_EFORMAT)
		return "no decoder for this machine is built in";
	if (l->place->end - l->place->start > MAX_CODE_BYTES)
		return "the procedure is too long";
	return err == -CPI_ENOCODE ? image_missing_code(&l->place->image.desc)
				   : err_str(err);
}

int list_decode(struct list *l)
{
	struct buf insns = { 0 };
	int err;

	l->sources = sources_new();
	if (!l->sources)
		return -ENOMEM;
	err = image_cache_get(l->scope->images, &l->place->image, &l->image);
	if (!err)
		err = read_code(l, &insns);
	if (err && err != -ENOMEM) {
		l->no_code = why_no_code(l, err);
		err = add_offsets(l, &insns);
	}
	if (l->image)
		image_cache_warn_lines(l->scope->images, &l->place->image, l->image);
	l->insn = (struct list_insn *)insns.data; /* the listing's now */
	l->nr_insns = insns.len / sizeof(*l->insn);
	if (err)
		return err;
	l->tally = calloc(l->nr_insns * l->scope->ev.nr + 1, sizeof(*l->tally));
	if (!l->tally)
		return -ENOMEM;
	put_samples(l);
	look_at_ticks(l);
	sources_ask(l->sources, image_cache_remote(l->scope->images),
		    &l->place->image.desc);
	return 0;
}

void list_fini(struct list *l)
{
	for (size_t i = 0; i < l->nr_insns; i++)
		free(l->insn[i].text);
	free(l->insn);
	free(l->tally);
	sources_free(l->sources);
}

bool list_has_source(const struct list *l)
{
	for (size_t i = 0; i < l->nr_insns; i++) {
		const struct line *line = &l->insn[i].line;

		if (line->file && sources_line(l->sources, line->file, line->line))
			return true;
	}
	return false;
}

double list_percent(const struct list *l, const struct event_sum *tally, size_t event)
{
	double all = l->total[event].weight;

	return all > 0 ? 100 * tally->weight / all : 0;
}

double list_time(const struct list *l, const struct event_sum *tally)
{
	const struct scope *s = l->scope;
	const struct evidence *e =
		l->has_ticks ? procedure_evidence_fit(s->evidence) : NULL;
	double ns = e ? 0 : tally[0].weight;

	for (size_t i = 0; e && i < s->ev.nr; i++)
		ns += evidence_factor(e, i, l->use) * tally[i].weight;
	return ns / s->ev.weight[s->first];
}

double list_time_percent(const struct list *l, const struct event_sum *tally)
{
	const double all = list_time(l, l->total);

	return all > 0 ? 100 * list_time(l, tally) / all : 0;
}
