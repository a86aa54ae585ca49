/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_list.c - one numbering of the images of several epochs
 *
 * The list is sorted, and has an index by id. Images that a flush adds while the list
 * is in use are appended, so that the indexes of the others stay valid.
 */
#include "config.h"

#include "db/core/image_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "db/core/rows.h"
#include "db/core/sql.h"

/* The position of an image in the list. */
struct image_id {
	int64_t id;
	uint32_t index;
};

static int read_image(sqlite3_stmt *st, void *ctx)
{
	struct image_list *l = ctx;
	int err;

	if (GROW(l->image, l->nr))
		return -ENOMEM;
	err = rows_image(st, 0, &l->image[l->nr]);
	l->nr += !err;
	return err;
}

static int compare_ids(const void *a, const void *b)
{
	const struct image_id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int index_images(struct image_list *l)
{
	struct image_id *by_id = reallocarray(l->by_id, l->nr + 1, sizeof(*by_id));

	if (!by_id)
		return -ENOMEM;
	l->by_id = by_id;
	for (size_t i = 0; i < l->nr; i++)
		by_id[i] = (struct image_id){ l->image[i].id, i };
	qsort(by_id, l->nr, sizeof(*by_id), compare_ids);
	return 0;
}

int image_list_read(sqlite3 *h, const char *epochs, struct image_list *l)
{
	static const char sql[] =
		"SELECT " ROWS_IMAGE_COLUMNS " FROM image i WHERE i.id IN"
		" (SELECT image FROM stack_image WHERE epoch IN"
		" (SELECT value FROM json_each(?1))) ORDER BY " ROWS_IMAGE_ORDER;
	int err;

	*l = (struct image_list){ .h = h };
	err = sql_each(h, read_image, l, sql, "s", epochs);
	return err ? err : index_images(l);
}

void image_list_fini(struct image_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		rows_image_fini(&l->image[i]);
	free(l->image);
	free(l->by_id);
	memset(l, 0, sizeof(*l));
}

/*
 * Finds an image's index. Appends an image that a flush has added since the list was
 * made.
 */
static int find_image(struct image_list *l, int64_t id, uint32_t *index)
{
	static const char sql[] =
		"SELECT " ROWS_IMAGE_COLUMNS " FROM image i WHERE i.id = ?1";
	const struct image_id key = { .id = id };
	const struct image_id *found =
		bsearch(&key, l->by_id, l->nr, sizeof(key), compare_ids);
	const size_t nr = l->nr;
	int err;

	if (found) {
		*index = found->index;
		return 0;
	}
	err = sql_each(l->h, read_image, l, sql, "i", id);
	if (!err && l->nr == nr)
		err = -CPI_ECORRUPT;
	if (!err)
		err = index_images(l);
	if (!err)
		*index = nr;
	return err;
}

int image_list_map(struct image_list *l, int64_t epoch, struct image_numbers *out)
{
	struct image_numbers im;
	int err = image_numbers_read(l->h, epoch, &im);

	if (err)
		return err;
	for (uint32_t i = 0; !err && i < im.nr; i++)
		err = find_image(l, im.id[i], &im.map[i]);
	if (err)
		image_numbers_fini(&im);
	else
		*out = im;
	return err;
}
