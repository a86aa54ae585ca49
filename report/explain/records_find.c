/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records_find.c - the instructions of a selection that have the most records
 *
 * The query returns rows image by image. The streams of an image are merged by
 * event, and then its instructions are ranked.
 */
#include "config.h"

#include "report/explain/records.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "report/explain/list.h"

#define LONGEST_INSN 16

struct records_finder {
	struct records_report *r;
	struct scope *scope;
	const struct found_place *place; /* NULL: all */
	struct isa *isa;
	enum machine machine;
	struct query_image image; /* whose rows are being read; its name is owned */
	struct records *sum[EVENTS_MAX]; /* of the image, by event */
};

double records_period(const struct records_report *r, const struct ranked_insn *ranked)
{
	const struct records_event *e = &r->event[ranked->event];

	if (r->scope->ev.event[ranked->event].is_time || !e->n)
		return NAN;
	return e->weight / e->n;
}

/* Sets the instruction's text; leaves it NULL if the code is not known. */
static int put_text(struct records_finder *f, struct image *im, const struct symbol *s,
		    struct ranked_insn *ranked)
{
	const uint64_t left = s ? s->end - ranked->offset : LONGEST_INSN;
	const size_t size = left < LONGEST_INSN ? left : LONGEST_INSN;
	char text[ISA_TEXT_SIZE];
	uint8_t code[LONGEST_INSN];
	struct buf words = { 0 };
	struct insn insn;
	int err = 0;

	if (!f->isa || f->machine != image_machine(im)) {
		isa_close(f->isa);
		f->isa = NULL;
		err = isa_open(image_machine(im), &f->isa);
		f->machine = image_machine(im);
	}
	if (!err)
		err = image_read(im, ranked->offset, code, size);
	if (!err)
		err = isa_decode(f->isa, code, size, ranked->address, &insn);
	if (err)
		return err == -ENOMEM ? err : 0;
	buf_puts(&words, isa_text(f->isa, &insn, text));
	list_put_target(im, ranked->address - ranked->offset, &insn, &words);
	ranked->text = strdup(buf_str(&words));
	buf_fini(&words);
	return ranked->text ? 0 : -ENOMEM;
}

static int add_insn(struct records_finder *f, struct image *im, size_t event,
		    const struct records_row *row)
{
	const struct explanation where = {
		.image = &f->image,
		.im = im,
		.symbol = im ? image_symbol_at(im, row->offset) : NULL,
	};
	struct ranked_insn *ranked;
	int err = ranked_insns_add(&f->r->insns, row->cell[0].n, &ranked);

	if (err || !ranked)
		return err;
	ranked->event = event;
	ranked->records = records_new();
	err = ranked->records ? records_add_row(ranked->records, row) : -ENOMEM;
	if (!err)
		err = ranked_insn_locate(ranked, &where, row->offset);
	return err || !im ? err : put_text(f, im, where.symbol, ranked);
}

/* A procedure includes nested ones, so the range decides. */
static bool is_wanted(const struct records_finder *f, struct image *im, uint64_t offset)
{
	const struct found_place *p = f->place;

	if (!p)
		return true;
	if (p->image.id != f->image.id || offset < p->start || offset >= p->end)
		return false;
	return p->kind != PLACE_UNNAMED || !im || !image_symbol_at(im, offset);
}

static int add_event(struct records_finder *f, struct image *im, size_t event)
{
	const size_t nr = records_nr(f->sum[event]);
	struct records_row *row = records_sorted(f->sum[event]);
	int err = row ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		if (is_wanted(f, im, row[i].offset))
			err = add_insn(f, im, event, &row[i]);
	}
	free(row);
	return err;
}

static void forget_image(struct records_finder *f)
{
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		records_free(f->sum[i]);
		f->sum[i] = NULL;
	}
	free((char *)f->image.desc.name);
	memset(&f->image, 0, sizeof(f->image));
}

static int end_image(struct records_finder *f)
{
	struct image *im = NULL;
	int err;

	if (!f->image.desc.name)
		return 0;
	err = image_cache_get(f->scope->images, &f->image, &im);
	if (err)
		im = NULL;
	err = err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < EVENTS_MAX && !err; i++) {
		if (f->sum[i])
			err = add_event(f, im, i);
	}
	forget_image(f);
	return err;
}

static int begin_image(struct records_finder *f, const struct query_image *image)
{
	int err = end_image(f);

	if (err)
		return err;
	f->image = *image;
	f->image.desc.name = strdup(image->desc.name);
	return f->image.desc.name ? 0 : -ENOMEM;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	const struct records *records = profile_records(q->profile);
	struct records_finder *f = ctx;
	double weight;
	size_t event;
	int err = 0;

	if (!records || !events_find(&f->scope->ev, q->stream, &event, &weight))
		return 0;
	if (f->image.id != q->image.id)
		err = begin_image(f, &q->image);
	if (!err && !f->sum[event])
		f->sum[event] = records_new();
	if (!err)
		err = f->sum[event] ? records_merge(f->sum[event], records) : -ENOMEM;
	f->r->event[event].n += records_total(records);
	f->r->event[event].weight += records_total(records) * weight;
	return err;
}

static int require_some(const struct records_finder *f)
{
	if (f->r->insns.ranked.len)
		return 0;
	log_err("%s: no records of hardware in %s: collect some with an event that "
		"samples instructions, ibs_op or arm_spe, or import a perf.data file",
		db_path(f->scope->sel.db), f->place ? f->place->name : "the selection");
	return -CPI_EEMPTY;
}

int records_find(struct scope *s, const struct found_place *place, uint64_t limit,
		 struct records_report *out)
{
	struct records_finder f = { .r = out, .scope = s, .place = place };
	int err;

	*out = (struct records_report){ .scope = s };
	ranked_insns_init(&out->insns, limit || !place ? limit : RANKED_INSNS_MAX);
	err = query_profiles(s->sel.db, &s->sel.query, on_profile, &f, NULL);
	if (!err)
		err = end_image(&f);
	if (err < 0)
		select_failed(&s->sel, err);
	forget_image(&f);
	isa_close(f.isa);
	return err ? err : require_some(&f);
}
