/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * images.c - a small cache: opening an image reads its symbols
 *
 * Profiles come grouped by image, so few need to be open at a time; what is
 * kept for all is only whether opening failed.
 */
#include "config.h"

#include "tools/images.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/log.h"

#define MAX_OPEN     8
#define MAX_WARNINGS 10

struct entry {
	struct hnode node;
	int64_t id;
	struct image *image; /* NULL: closed, or err says why */
	int err;
	uint64_t used; /* the clock at its last use */
};

struct images {
	struct db *db;
	enum machine machine;
	struct hmap map;
	size_t nr_open;
	size_t nr_warnings;
	uint64_t clock;
};

struct images *images_new(struct db *db, enum machine machine)
{
	struct images *images = calloc(1, sizeof(*images));

	if (!images)
		return NULL;
	images->db = db;
	images->machine = machine;
	return images;
}

static struct entry *entry_of(struct hnode *n)
{
	return container_of(n, struct entry, node);
}

void images_free(struct images *images)
{
	struct hnode *n, *next;

	if (!images)
		return;
	if (images->nr_warnings > MAX_WARNINGS)
		log_warn("%zu more images could not be opened",
			 images->nr_warnings - MAX_WARNINGS);
	hmap_for_each (&images->map, n, next) {
		image_close(entry_of(n)->image);
		free(entry_of(n));
	}
	hmap_fini(&images->map);
	free(images);
}

static struct entry *find(struct images *images, int64_t id)
{
	const uint64_t hash = hash_u64(id);
	struct hnode *n;
	struct entry *e;

	for (n = hmap_first(&images->map, hash); n; n = hmap_next(n)) {
		if (entry_of(n)->id == id)
			return entry_of(n);
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->id = id;
	if (hmap_insert(&images->map, &e->node, hash)) {
		free(e);
		return NULL;
	}
	return e;
}

static void close_oldest(struct images *images)
{
	struct entry *oldest = NULL;
	struct hnode *n, *next;

	hmap_for_each (&images->map, n, next) {
		struct entry *e = entry_of(n);

		if (e->image && (!oldest || e->used < oldest->used))
			oldest = e;
	}
	image_close(oldest->image);
	oldest->image = NULL;
	images->nr_open--;
}

static int open_captured(struct images *images, const struct query_image *row,
			 struct image **out)
{
	struct query_capture c;
	struct capture_symbol *symbols;
	struct capture_code *codes;
	int err;

	err = query_capture(images->db, row->id, &c);
	if (err)
		return err;
	symbols = calloc(c.nr_symbols + 1, sizeof(*symbols));
	codes = calloc(c.nr_codes + 1, sizeof(*codes));
	if (!symbols || !codes) {
		err = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < c.nr_symbols; i++)
		symbols[i] =
			(struct capture_symbol){ c.symbol[i].start, c.symbol[i].size,
						 c.symbol[i].name };
	for (size_t i = 0; i < c.nr_codes; i++)
		codes[i] = (struct capture_code){ c.code[i].start, c.code[i].size,
						  c.code[i].bytes };
	err = c.nr_symbols || c.nr_codes
		      ? image_open_capture(&row->desc, images->machine, symbols,
					   c.nr_symbols, codes, c.nr_codes, out)
		      : -CPI_ENOIMAGE;
out:
	free(symbols);
	free(codes);
	query_capture_fini(&c);
	return err;
}

static int open_image(struct images *images, const struct query_image *row,
		      struct image **out)
{
	int err, captured;

	if (row->desc.kind != IMAGE_FILE)
		return open_captured(images, row, out);
	err = image_open(&row->desc, NULL, out);
	if (!err || err == -ENOMEM)
		return err;
	captured = open_captured(images, row, out);
	return captured == -CPI_ENOIMAGE ? err : captured;
}

static const char *why(const struct image_desc *desc, int err)
{
	if (desc->kind != IMAGE_FILE && err == -CPI_ENOIMAGE)
		return "nothing was captured of it";
	if (err == -ENODEV)
		return "not a regular file";
	if (err == -ELOOP)
		return "a symbolic link, which the profiled file was not";
	return err_str(err);
}

static void warn(struct images *images, const struct image_desc *desc, int err)
{
	if (images->nr_warnings++ < MAX_WARNINGS)
		log_warn("%s: %s: its procedures have no names", desc->name,
			 why(desc, err));
}

int images_get(struct images *images, const struct query_image *row, struct image **out)
{
	struct entry *e = find(images, row->id);

	if (!e)
		return -ENOMEM;
	if (!e->image && !e->err) {
		if (images->nr_open == MAX_OPEN)
			close_oldest(images);
		e->err = open_image(images, row, &e->image);
		if (e->err == -ENOMEM) {
			e->err = 0;
			return -ENOMEM;
		}
		if (e->err)
			warn(images, &row->desc, e->err);
		else
			images->nr_open++;
	}
	if (e->err)
		return e->err;
	e->used = ++images->clock;
	*out = e->image;
	return 0;
}

const char *images_missing_code(const struct image_desc *desc)
{
	switch (desc->kind) {
	case IMAGE_FILE:
		return "the file does not hold these bytes";
	case IMAGE_KERNEL:
	case IMAGE_IDLE:
	case IMAGE_MODULE:
		return "the kernel's code was not captured";
	case IMAGE_VDSO:
		return "the vDSO's code was not captured";
	case IMAGE_BPF:
		return "the BPF program's code was not captured";
	}
	return "its code was not captured";
}
