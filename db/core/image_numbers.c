/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_numbers.c - reads an epoch's numbers of images, and assigns new ones
 *
 * Numbers are 0, 1, 2, ... without gaps, so a number in a blob is valid if it is less
 * than the length of the list of ids.
 */
#include "config.h"

#include "db/core/image_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "db/core/intern.h"
#include "db/core/sql.h"

static int read_id(sqlite3_stmt *st, void *ctx)
{
	struct image_numbers *im = ctx;

	if (GROW(im->id, im->nr))
		return -ENOMEM;
	if (sqlite3_column_int64(st, 0) != im->nr || im->nr == UINT32_MAX)
		return -CPI_ECORRUPT;
	im->id[im->nr++] = sqlite3_column_int64(st, 1);
	return 0;
}

int image_numbers_read(sqlite3 *h, int64_t epoch, struct image_numbers *out)
{
	struct image_numbers im = { 0 };
	int err = sql_each(
		h, read_id, &im,
		"SELECT nr, image FROM stack_image WHERE epoch = ?1 ORDER BY nr", "i",
		epoch);

	if (!err) {
		im.map = calloc((size_t)im.nr + 1, sizeof(*im.map));
		err = im.map ? 0 : -ENOMEM;
	}
	if (err == -CPI_ECORRUPT)
		log_err("db: %s: epoch %" PRId64 ": numbers of stack_image are missing",
			sqlite3_db_filename(h, "main"), epoch);
	if (err)
		image_numbers_fini(&im);
	else
		*out = im;
	return err;
}

void image_numbers_fini(struct image_numbers *im)
{
	free(im->id);
	free(im->map);
	memset(im, 0, sizeof(*im));
}

/* Gets the number of an image in an epoch; assigns one if it has none. */
static int give_number(sqlite3 *h, int64_t epoch, int64_t image, uint32_t *nr)
{
	int64_t found;
	int err = sql_get(h, &found,
			  "SELECT nr FROM stack_image WHERE epoch = ?1 AND image = ?2",
			  "ii", epoch, image);

	if (err == -ENOENT)
		err = sql_get(
			h, &found,
			"INSERT INTO stack_image (epoch, nr, image)"
			" SELECT ?1, count(*), ?2 FROM stack_image WHERE epoch = ?1"
			" RETURNING nr",
			"ii", epoch, image);
	if (!err)
		*nr = found;
	return err;
}

int image_numbers_give(sqlite3 *h, int64_t epoch,
		       const struct image_desc *const *images, size_t nr,
		       sqlite3_stmt *search, uint32_t *map)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		int64_t id = 0;

		if (images[i])
			err = intern_image(search, images[i], &id);
		if (!err)
			err = give_number(h, epoch, id, &map[i]);
	}
	return err;
}

int image_numbers_move(sqlite3 *h, int64_t epoch, int64_t target,
		       struct image_numbers *out)
{
	struct image_numbers im;
	int err = image_numbers_read(h, epoch, &im);

	if (err)
		return err;
	for (uint32_t i = 0; !err && i < im.nr; i++)
		err = give_number(h, target, im.id[i], &im.map[i]);
	if (err)
		image_numbers_fini(&im);
	else
		*out = im;
	return err;
}
