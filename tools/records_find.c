/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records_find.c - the instructions of a selection that have the most records
 *
 * Rows come image by image; an image's streams are merged by event before its
 * instructions compete for a place.
 */
#include "config.h"

#include "tools/records.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/progress.h"

#define LONGEST_INSN 16

double records_period(const struct records_report *r, const struct spot *spot)
{
	const struct records_event *e = &r->event[spot->event];

	if (r->l->ev.event[spot->event].is_time || !e->n)
		return NAN;
	return e->weight / e->n;
}

/* What stands at offset, in words; nothing where the code is not known. */
static int put_text(struct records_report *r, struct image *im, const struct symbol *s,
		    struct spot *spot)
{
	const uint64_t left = s ? s->end - spot->offset : LONGEST_INSN;
	const size_t size = left < LONGEST_INSN ? left : LONGEST_INSN;
	char text[ISA_TEXT_SIZE];
	uint8_t code[LONGEST_INSN];
	struct buf words = { 0 };
	struct insn insn;
	int err = 0;

	if (!r->isa || r->machine != image_machine(im)) {
		isa_close(r->isa);
		r->isa = NULL;
		err = isa_open(image_machine(im), &r->isa);
		r->machine = image_machine(im);
	}
	if (!err)
		err = image_read(im, spot->offset, code, size);
	if (!err)
		err = isa_decode(r->isa, code, size, spot->address, &insn);
	if (err)
		return err == -ENOMEM ? err : 0;
	buf_puts(&words, isa_text(r->isa, &insn, text));
	list_put_target(im, spot->address - spot->offset, &insn, &words);
	spot->text = strdup(buf_str(&words));
	buf_fini(&words);
	return spot->text ? 0 : -ENOMEM;
}

static int add_spot(struct records_report *r, struct image *im, size_t event,
		    const struct records_row *row)
{
	const struct explanation where = {
		.image = &r->image,
		.im = im,
		.symbol = im ? image_symbol_at(im, row->offset) : NULL,
	};
	struct spot *spot;
	int err = spots_add(&r->spots, row->cell[0].n, &spot);

	if (err || !spot)
		return err;
	spot->event = event;
	spot->records = records_new();
	err = spot->records ? records_add_row(spot->records, row) : -ENOMEM;
	if (!err)
		err = ranking_locate(&(struct ranking){ .ex = &where }, -1, row->offset,
				     spot);
	return err || !im ? err : put_text(r, im, where.symbol, spot);
}

/* Nested procedures are parts of it: the range decides. */
static bool is_wanted(const struct records_report *r, uint64_t offset)
{
	const struct list_place *p = r->l->place;

	return !p ||
	       (p->image.id == r->image.id && p->start <= offset && offset < p->end);
}

static int add_event(struct records_report *r, struct image *im, size_t event)
{
	const size_t nr = records_nr(r->sum[event]);
	struct records_row *row = records_sorted(r->sum[event]);
	int err = row ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		if (is_wanted(r, row[i].offset))
			err = add_spot(r, im, event, &row[i]);
	}
	free(row);
	return err;
}

static void forget_image(struct records_report *r)
{
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		records_free(r->sum[i]);
		r->sum[i] = NULL;
	}
	free((char *)r->image.desc.name);
	memset(&r->image, 0, sizeof(r->image));
}

static int end_image(struct records_report *r)
{
	struct image *im = NULL;
	int err;

	if (!r->image.desc.name)
		return 0;
	err = image_cache_get(r->l->images, &r->image, &im);
	if (err)
		im = NULL;
	err = err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < EVENTS_MAX && !err; i++) {
		if (r->sum[i])
			err = add_event(r, im, i);
	}
	forget_image(r);
	return err;
}

static int begin_image(struct records_report *r, const struct query_image *image)
{
	int err = end_image(r);

	if (err)
		return err;
	r->image = *image;
	r->image.desc.name = strdup(image->desc.name);
	return r->image.desc.name ? 0 : -ENOMEM;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	const struct records *records = profile_records(q->profile);
	struct records_report *r = ctx;
	double weight;
	size_t event;
	int err = 0;

	if (!records || !events_find(&r->l->ev, q->stream, &event, &weight))
		return 0;
	if (r->image.id != q->image.id)
		err = begin_image(r, &q->image);
	if (!err && !r->sum[event])
		r->sum[event] = records_new();
	if (!err)
		err = r->sum[event] ? records_merge(r->sum[event], records) : -ENOMEM;
	r->event[event].n += records_total(records);
	r->event[event].weight += records_total(records) * weight;
	return err;
}

static int require_some(const struct records_report *r)
{
	if (r->spots.spot.len)
		return 0;
	log_err("%s: no records of hardware %s: collect some with an event that "
		"samples "
		"instructions, ibs_op or arm_spe, or import a perf.data file",
		db_path(r->l->sel.db),
		r->l->place ? r->l->place->name : "in the selection");
	return -CPI_EEMPTY;
}

int records_find(struct records_report *r, struct listing *l)
{
	const uint64_t limit = l->ctx->opt.limit;
	int err;

	*r = (struct records_report){ .l = l };
	spots_init(&r->spots, limit || !l->place ? limit : SPOTS_MAX);
	err = query_profiles(l->sel.db, &l->sel.query, on_profile, r, NULL);
	if (!err)
		err = end_image(r);
	if (err < 0)
		select_failed(l->ctx, &l->sel, err);
	return err ? err : require_some(r);
}

void records_fini(struct records_report *r)
{
	forget_image(r);
	spots_fini(&r->spots);
	isa_close(r->isa);
}
