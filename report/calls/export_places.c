/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_places.c - looks up the frames of the places in call stacks
 *
 * The stacks in a database are not ordered by image. So all places are first noted and
 * sorted, and each image is opened once. Frames and names are copied, because they must
 * outlive their image.
 */
#include "config.h"

#include "report/calls/export_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"

/* A copy, which outlives the row of the database. */
struct place_image {
	struct hnode node;
	struct query_image image;
};

struct export_place {
	struct hnode node;
	const struct place_image *in;
	uint64_t offset;
	size_t first, nr; /* of the frames */
};

static int find_image(struct export_places *p, const struct query_image *image,
		      const struct place_image **out)
{
	const uint64_t hash = hash_u64((uint64_t)image->id);
	struct place_image *in;
	uint32_t name;
	int err;

	for (struct hnode *n = hmap_first(&p->images, hash); n; n = hmap_next(n)) {
		*out = container_of(n, struct place_image, node);
		if ((*out)->image.id == image->id)
			return 0;
	}
	err = strings_add(&p->strings, image->desc.name, &name);
	if (err)
		return err;
	in = arena_alloc(&p->memory, sizeof(*in));
	if (!in || hmap_insert(&p->images, &in->node, hash))
		return -ENOMEM;
	in->image = *image;
	in->image.desc.name = strings_at(&p->strings, name);
	*out = in;
	return 0;
}

static uint64_t hash_place(const struct query_image *image, uint64_t offset)
{
	return hash_u64(hash_u64((uint64_t)image->id) ^ offset);
}

static struct export_place *find_place(const struct export_places *p,
				       const struct query_image *image, uint64_t offset)
{
	struct hnode *n = hmap_first(&p->places, hash_place(image, offset));

	for (; n; n = hmap_next(n)) {
		struct export_place *place = container_of(n, struct export_place, node);

		if (place->in->image.id == image->id && place->offset == offset)
			return place;
	}
	return NULL;
}

int export_places_note(struct export_places *p, const struct query_image *image,
		       uint64_t offset)
{
	struct export_place *place;
	int err;

	if (find_place(p, image, offset))
		return 0;
	if (p->nr == EXPORT_MAX_PLACES)
		return -CPI_ELIMIT;
	if (!p->memory.limit)
		arena_init(&p->memory, 0);
	if (GROW(p->place, p->nr))
		return -ENOMEM;
	place = arena_alloc(&p->memory, sizeof(*place));
	if (!place)
		return -ENOMEM;
	place->offset = offset;
	err = find_image(p, image, &place->in);
	if (!err)
		err = hmap_insert(&p->places, &place->node, hash_place(image, offset));
	if (!err)
		p->place[p->nr++] = place;
	return err;
}

static int compare_places(const void *a, const void *b)
{
	const struct export_place *x = *(struct export_place *const *)a;
	const struct export_place *y = *(struct export_place *const *)b;

	if (x->in != y->in)
		return x->in->image.id < y->in->image.id ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A copy that outlives the image. */
static int keep_text(struct export_places *p, const char **text)
{
	uint32_t nr;
	int err;

	if (!*text)
		return 0;
	err = strings_add(&p->strings, *text, &nr);
	if (!err)
		*text = strings_at(&p->strings, nr);
	return err;
}

static int look_up(struct export_places *p, struct image_cache *images,
		   struct export_place *place)
{
	const struct query_image *image = &place->in->image;
	struct image *im = NULL;
	int err = image_cache_get(images, image, &im);

	if (err == -ENOMEM)
		return err;
	place->first = p->frames.nr;
	err = export_frames_add(&p->frames, image, im, place->offset);
	place->nr = p->frames.nr - place->first;
	for (size_t i = place->first; i < p->frames.nr && !err; i++) {
		struct export_frame *f = &p->frames.at[i];

		err = keep_text(p, &f->function);
		if (!err)
			err = keep_text(p, &f->raw);
		if (!err)
			err = keep_text(p, &f->line.file);
		if (!err)
			err = keep_text(p, &f->begin.file);
	}
	if (im)
		image_cache_warn_lines(images, image, im);
	return err;
}

int export_places_look_up(struct export_places *p, struct image_cache *images,
			  struct progress *progress)
{
	int err = 0;

	if (p->nr)
		qsort(p->place, p->nr, sizeof(struct export_place *), compare_places);
	for (size_t i = 0; i < p->nr && !err; i++) {
		progress_update(progress, i, p->nr);
		err = look_up(p, images, p->place[i]);
	}
	return err;
}

int export_places_add(const struct export_places *p, const struct query_image *image,
		      uint64_t offset, struct export_frames *out)
{
	const struct export_place *place = find_place(p, image, offset);
	int err = place ? 0 : -ENOENT;

	for (size_t i = 0; !err && i < place->nr; i++)
		err = export_frames_append(out, &p->frames.at[place->first + i]);
	return err;
}

void export_places_fini(struct export_places *p)
{
	export_frames_fini(&p->frames);
	strings_fini(&p->strings);
	hmap_fini(&p->images);
	hmap_fini(&p->places);
	arena_fini(&p->memory);
	free(p->place);
	*p = (struct export_places){ 0 };
}
