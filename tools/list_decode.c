/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isa.h"
#include "base/err.h"
#include "tools/list.h"

#define MAX_CODE_BYTES (1u << 20)

static const struct list_sample *samples(const struct listing *l, size_t *nr)
{
	*nr = l->place->samples.len / sizeof(struct list_sample);
	return (const struct list_sample *)l->place->samples.data;
}

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

static void describe(struct listing *l, struct list_insn *at)
{
	at->line = image_line_at(l->image, at->offset);
	if (l->ctx->opt.inlines)
		at->inlined = inlined_at(l->image, at->offset);
}

static int add_insn(struct listing *l, struct buf *insns, uint64_t offset,
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

static int decode(struct listing *l, struct isa *isa, const uint8_t *code, size_t size,
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

static int read_code(struct listing *l, struct buf *insns)
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

/* Without code: the offsets that were sampled. */
static int add_offsets(struct listing *l, struct buf *insns)
{
	const struct list_sample *s;
	size_t nr;

	s = samples(l, &nr);
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
static void put_samples(struct listing *l)
{
	const struct list_sample *s;
	size_t nr, at = 0;

	s = samples(l, &nr);
	for (size_t i = 0; i < nr && l->nr_insns; i++) {
		struct tally *t;

		while (at + 1 < l->nr_insns && l->insn[at + 1].offset <= s[i].offset)
			at++;
		t = &l->tally[at * l->ev.nr + s[i].event];
		t->n += s[i].n;
		t->weight += s[i].weight;
		l->total[s[i].event].n += s[i].n;
		l->total[s[i].event].weight += s[i].weight;
		l->insn[at].taken += s[i].taken;
		l->insn[at].not_taken += s[i].not_taken;
		l->has_outcomes |= s[i].taken || s[i].not_taken;
	}
}

static const char *why_no_code(const struct listing *l, int err)
{
	if (!l->image)
		return image_cache_why(&l->place->image.desc, err);
	if (l->place->kind == PLACE_UNNAMED)
		return "no symbol covers these offsets";
	if (err == -CPI_EFORMAT)
		return "no decoder for this machine is built in";
	if (l->place->end - l->place->start > MAX_CODE_BYTES)
		return "the procedure is too long";
	return image_missing_code(&l->place->image.desc);
}

int list_decode(struct listing *l)
{
	struct buf insns = { 0 };
	int err;

	err = image_cache_get(l->images, &l->place->image, &l->image);
	if (!err)
		err = read_code(l, &insns);
	if (err && err != -ENOMEM) {
		l->no_code = why_no_code(l, err);
		err = add_offsets(l, &insns);
	}
	if (l->image)
		image_cache_warn_lines(l->images, &l->place->image, l->image);
	l->insn = (struct list_insn *)insns.data; /* the listing's now */
	l->nr_insns = insns.len / sizeof(*l->insn);
	if (err)
		return err;
	l->tally = calloc(l->nr_insns * l->ev.nr + 1, sizeof(*l->tally));
	if (!l->tally)
		return -ENOMEM;
	put_samples(l);
	return 0;
}
