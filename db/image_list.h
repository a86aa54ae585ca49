/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_list.h - images that stacks and windows of some epochs name, in one order
 *
 * Each epoch has its own numbers for them (table stack_image); here they have one.
 */
#ifndef CPI_DB_IMAGE_LIST_H
#define CPI_DB_IMAGE_LIST_H

#include "db/query.h"
#include "db/stacks_store.h"

struct image_id;

struct image_list {
	sqlite3 *h;
	struct query_image *image; /* what came after the list was read is at its end */
	size_t nr;
	struct image_id *by_id;
};

/* Those of epochs, a JSON array. 0 or a negative error; to be ended in any case. */
int image_list_read(sqlite3 *h, const char *epochs, struct image_list *l);
void image_list_fini(struct image_list *l);

/* An epoch's images; map[its number] is where an image is in l. As stacks_images(). */
int image_list_map(struct image_list *l, int64_t epoch, struct stack_images *out);

#endif
