/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selected_accesses.c - loads all accesses of a selection into one set, and models it
 */
#include "config.h"

#include "report/explain/selected_accesses.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/log.h"
#include "db/query/window_query.h"
#include "report/explain/geometry.h"

/* Of all images; about 40 MiB if each has all its values. */
#define MAX_OPERANDS (1u << 15)

struct selected_accesses {
	struct accesses *set;
	struct operands *operands; /* NULL: there are none */
	int64_t *image;            /* ids, by number in set */
	uint32_t nr_images;
	struct arena arena; /* of model */
	struct data_model *model;
};

/* The number of an image; nr_images if it has none. */
static uint32_t find_image(const struct selected_accesses *f, int64_t id)
{
	uint32_t i = 0;

	while (i < f->nr_images && f->image[i] != id)
		i++;
	return i;
}

static int number(struct selected_accesses *f, int64_t id, uint32_t *out)
{
	*out = find_image(f, id);
	if (*out < f->nr_images)
		return 0;
	if (GROW(f->image, f->nr_images))
		return -ENOMEM;
	f->image[f->nr_images++] = id;
	return 0;
}

static int add_operands(struct selected_accesses *f, const struct operands *from,
			const uint32_t *map, uint32_t nr_map)
{
	if (!from)
		return 0;
	if (!f->operands)
		f->operands = operands_new(MAX_OPERANDS);
	return f->operands ? operands_merge(f->operands, from, map, nr_map) : -ENOMEM;
}

static int add_row(void *ctx, const struct query_windows *row)
{
	struct selected_accesses *f = ctx;
	uint32_t *map = calloc(row->nr_images + 1, sizeof(*map));
	int err = map ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < row->nr_images; i++)
		err = number(f, row->images[i].id, &map[i]);
	if (!err)
		err = accesses_merge(f->set, row->accesses, map,
				     (uint32_t)row->nr_images);
	if (!err)
		err = add_operands(f, accesses_operands(row->accesses), map,
				   (uint32_t)row->nr_images);
	free(map);
	return err;
}

static void warn_if_full(const struct selected_accesses *f)
{
	size_t nr = 0;

	if (f->operands)
		operands_sites(f->operands, &nr);
	if (nr == MAX_OPERANDS)
		log_warn("windows: more than %u operands: some images lack theirs; "
			 "select fewer epochs",
			 MAX_OPERANDS);
}

static int load(struct selected_accesses *f, struct db *db,
		const struct query_selection *sel, const struct query_epoch *epoch)
{
	struct query_selection all = *sel;
	struct data_geometry g;
	int err;

	all.image = NULL;
	all.event = NULL;
	err = query_accesses(db, &all, add_row, f);
	warn_if_full(f);
	if (err || !accesses_seen(f->set))
		return err;
	geometry_find(epoch->cpu, epoch->boot_id, &g);
	return data_model_make(f->set, &g, &f->arena, &f->model);
}

int selected_accesses_load(struct db *db, const struct query_selection *sel,
			   const struct query_epoch *epoch,
			   struct selected_accesses **out)
{
	struct selected_accesses *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (f) {
		arena_init(&f->arena, 0);
		f->set = accesses_new(ACCESSES_MAX_INSNS);
	}
	if (f && f->set)
		err = load(f, db, sel, epoch);
	if (err || (!f->model && !f->operands)) {
		selected_accesses_free(f);
		f = NULL;
	}
	if (!err)
		*out = f;
	return err;
}

void selected_accesses_free(struct selected_accesses *f)
{
	if (!f)
		return;
	arena_fini(&f->arena);
	accesses_free(f->set);
	operands_free(f->operands);
	free(f->image);
	free(f);
}

const struct data_model *selected_accesses_model(const struct selected_accesses *f,
						 int64_t image, uint32_t *number)
{
	if (!f)
		return NULL;
	*number = find_image(f, image);
	return *number < f->nr_images ? f->model : NULL;
}

const struct operands *selected_accesses_operands(const struct selected_accesses *f,
						  int64_t image, uint32_t *number)
{
	if (!f)
		return NULL;
	*number = find_image(f, image);
	return *number < f->nr_images ? f->operands : NULL;
}
