/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_match.c - matches procedures of two builds of an image by similar code
 *
 * Procedures with the same name are one row already. This file compares the rows that
 * only one side has, in images of the same path. All pairs are compared, and the most
 * similar pairs are joined first. Then each row is compared with several rows of the
 * other side together, because a procedure may have been split, or several may have
 * become one.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare/diff.h"
#include "report/select/imagecache.h"

/* Only this many rows of an image on each side are compared: the busiest ones. */
#define MAX_ROWS 100

struct candidate {
	const struct matrix_row *row;
	struct similar *code;   /* NULL: not known */
	struct candidate *head; /* the row of A that it is joined with (may be
				   itself); NULL: it is not joined */
	double score;           /* if joined: how similar they are */
	bool many;              /* if joined: with more than one row */
};

struct candidates {
	struct candidate c[MAX_ROWS];
	size_t nr;
};

struct pair {
	size_t a, b;
	double score;
};

/* The hashes of a side's images, ascending; ids would differ between the sides. */
struct image_hashes {
	uint64_t *hash;
	size_t nr;
};

static int by_hash(const void *va, const void *vb)
{
	const uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

static int list_images(const struct matrix *m, int side, struct image_hashes *out)
{
	out->hash = calloc(m->nr_rows + 1, sizeof(*out->hash));
	if (!out->hash)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_rows; i++)
		out->hash[out->nr++] = m->row[i]->place[side].image_hash;
	qsort(out->hash, out->nr, sizeof(*out->hash), by_hash);
	return 0;
}

/* Whether only this side has the row, and only this side has samples of its build. */
static bool is_alone(const struct matrix_row *row, int side,
		     const struct image_hashes *other)
{
	const struct matrix_place *place = &row->place[side];

	return row->image && row->time[side] > 0 && !(row->time[!side] > 0) &&
	       place->end &&
	       !bsearch(&place->image_hash, other->hash, other->nr,
			sizeof(*other->hash), by_hash);
}

static int by_time(const void *va, const void *vb)
{
	const struct matrix_row *a = *(struct matrix_row *const *)va;
	const struct matrix_row *b = *(struct matrix_row *const *)vb;
	const double x = a->time[0] + a->time[1], y = b->time[0] + b->time[1];
	const int c = strcmp(a->image, b->image);

	if (c || x == y)
		return c;
	return x < y ? 1 : -1;
}

/* Reads the code of all rows of an image together, so that it is opened only once. */
struct code_reading {
	struct image_cache *images;
	struct isa *isa;
	struct candidates *of;
	int side;
};

static int on_image(void *ctx, const struct query_profile *q)
{
	struct code_reading *r = ctx;
	struct image *im = NULL;
	int err;

	for (size_t i = 0; i < r->of->nr; i++) {
		struct candidate *c = &r->of->c[i];
		const struct matrix_place *place = &c->row->place[r->side];

		if (place->image != q->image.id || c->code)
			continue;
		if (!im && image_cache_get(r->images, &q->image, &im))
			return 0;
		err = similar_new(im, r->isa, place->start, place->end, &c->code);
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

static int read_codes(struct diff *d, int side, struct isa *isa, const char *image,
		      struct candidates *of)
{
	const struct selection *sel = &d->sel[side];
	struct query_selection query = sel->query;
	struct code_reading r = { NULL, isa, of, side };
	struct buf glob = { 0 };
	int err = diff_put_pattern(image, &glob);

	query.image = glob.data;
	r.images = image_cache_new(sel->db, machine_of(select_newest(sel)->arch),
				   IMAGE_WARN_NEVER);
	if (!err)
		err = r.images ? query_profiles(sel->db, &query, on_image, &r, NULL)
			       : -ENOMEM;
	if (err && err != -ENOMEM)
		select_failed(sel, err);
	image_cache_free(r.images);
	buf_fini(&glob);
	return err;
}

static int by_score(const void *va, const void *vb)
{
	const struct pair *a = va, *b = vb;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return (a->a + a->b > b->a + b->b) - (a->a + a->b < b->a + b->b);
}

static int join_pairs(struct candidates *of)
{
	struct pair *pair = calloc(of[0].nr * of[1].nr + 1, sizeof(*pair));
	size_t nr = 0;

	if (!pair)
		return -ENOMEM;
	for (size_t a = 0; a < of[0].nr; a++) {
		for (size_t b = 0; b < of[1].nr; b++) {
			const struct similar *x = of[0].c[a].code, *y = of[1].c[b].code;
			const double score = x && y ? similar_score(x, y) : 0;

			if (score >= SIMILAR_ENOUGH)
				pair[nr++] = (struct pair){ a, b, score };
		}
	}
	qsort(pair, nr, sizeof(*pair), by_score);
	for (size_t i = 0; i < nr; i++) {
		struct candidate *a = &of[0].c[pair[i].a], *b = &of[1].c[pair[i].b];

		if (a->head || b->head)
			continue;
		a->head = b->head = a;
		a->score = b->score = pair[i].score;
	}
	free(pair);
	return 0;
}

/* Finds rows that may be parts of whole: those joined with it, or with none. */
static size_t find_parts(const struct candidate *whole, struct candidates *of,
			 struct candidate **part)
{
	size_t nr = 0;

	for (size_t i = 0; i < of->nr && whole->code; i++) {
		struct candidate *c = &of->c[i];

		if (c->head ? c->head == whole->head
			    : c->code && similar_part(c->code, whole->code) >=
						 SIMILAR_PART)
			part[nr++] = c;
	}
	return nr;
}

/* Computes how similar whole is to all parts together. Returns 0 or -ENOMEM. */
static int score_parts(const struct candidate *whole, struct candidate *const *part,
		       size_t nr, double *score)
{
	struct similar *sum = NULL, *joined;

	for (size_t i = 1; i < nr; i++) {
		joined = similar_join(sum ? sum : part[0]->code, part[i]->code);
		similar_free(sum);
		if (!joined)
			return -ENOMEM;
		sum = joined;
	}
	*score = similar_score(whole->code, sum ? sum : part[0]->code);
	similar_free(sum);
	return 0;
}

/*
 * Joins whole with several rows of the other side, if together they are more similar to
 * it than the row that it is joined with.
 */
static int join_parts(struct candidate *whole, bool is_a, struct candidates *of)
{
	struct candidate *part[MAX_ROWS];
	const size_t nr = whole->many ? 0 : find_parts(whole, of, part);
	double score = 0;
	int err = nr > 1 ? score_parts(whole, part, nr, &score) : 0;

	if (err || score < SIMILAR_ENOUGH || score <= whole->score)
		return err;
	for (size_t i = 0; i <= nr; i++) {
		struct candidate *c = i < nr ? part[i] : whole;

		c->head = is_a ? whole : part[0];
		c->score = score;
		c->many = true;
	}
	return 0;
}

static int join(struct candidates *of, size_t *alias, double *similarity)
{
	int err = join_pairs(of);

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < of[side].nr && !err; i++)
			err = join_parts(&of[side].c[i], !side, &of[!side]);
	}
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < of[side].nr && !err; i++) {
			const struct candidate *c = &of[side].c[i];

			if (!c->head || c->head == c)
				continue;
			alias[c->row->index] = c->head->row->index;
			similarity[c->row->index] = c->score;
		}
	}
	return err;
}

static int match_image(struct diff *d, struct isa *isa, struct matrix_row **row,
		       size_t nr, size_t *alias, double *similarity)
{
	struct candidates *of = calloc(2, sizeof(*of));
	int err = of ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		struct candidates *c = &of[row[i]->time[1] > 0];

		if (c->nr < MAX_ROWS)
			c->c[c->nr++].row = row[i];
	}
	for (int side = 0; side < 2 && !err && of[0].nr && of[1].nr; side++)
		err = read_codes(d, side, isa, row[0]->image, &of[side]);
	if (!err)
		err = join(of, alias, similarity);
	for (int side = 0; of && side < 2; side++) {
		for (size_t i = 0; i < of[side].nr; i++)
			similar_free(of[side].c[i].code);
	}
	free(of);
	return err;
}

static int match_images(struct diff *d, struct matrix_row **row, size_t nr,
			size_t *alias, double *similarity)
{
	struct isa *isa;
	int err = isa_open(machine_of(select_newest(&d->sel[0])->arch), &isa);

	if (err) /* no decoder for this machine: rows match only by name */
		return err == -ENOMEM ? err : 0;
	qsort(row, nr, sizeof(*row), by_time);
	for (size_t from = 0, to; from < nr && !err; from = to) {
		for (to = from + 1;
		     to < nr && !strcmp(row[to]->image, row[from]->image);)
			to++;
		err = match_image(d, isa, row + from, to - from, alias, similarity);
	}
	isa_close(isa);
	return err;
}

int diff_match(struct diff *d, size_t *alias, double *similarity)
{
	struct matrix_row **row = calloc(d->m.nr_rows + 1, sizeof(*row));
	struct image_hashes images[2] = { 0 };
	size_t nr = 0;
	int err = row ? 0 : -ENOMEM;

	for (int side = 0; side < 2 && !err; side++)
		err = list_images(&d->m, side, &images[side]);
	for (size_t i = 0; i < d->m.nr_rows && !err; i++) {
		if (is_alone(d->m.row[i], 0, &images[1]) ||
		    is_alone(d->m.row[i], 1, &images[0]))
			row[nr++] = d->m.row[i];
	}
	if (!err && nr && d->req->by == BY_PROCEDURE)
		err = match_images(d, row, nr, alias, similarity);
	free(images[0].hash);
	free(images[1].hash);
	free(row);
	return err;
}
