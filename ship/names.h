/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - sends what rows refer to: images, streams, contexts; names and code
 *
 * A process sends each of them once, and of images only those that the store lacks. Its
 * list of what it sent is bounded; when the list is full it is cleared, and rows are
 * sent again. The store keeps only one of equal rows. Parts of captures of an image may
 * come from any machine; the shipper asks the store which parts it has. So symbols are
 * sent once, not once for each machine. Of code made at run time the list has 8 bytes
 * for each row of the database.
 */
#ifndef CPI_SHIP_NAMES_H
#define CPI_SHIP_NAMES_H

#include <stdbool.h>

#include "db/clickhouse/store.h"
#include "db/core/db.h"
#include "ship/rows.h"

struct ship_names;

struct ship_names *ship_names_new(void); /* NULL when out of memory */
void ship_names_free(struct ship_names *n);

/*
 * Asks the store, once, which images of the database it knows. Call it when no
 * transaction is open. The store may know an image but not its names and code, if an
 * earlier process ended in between.
 */
int ship_names_ask(struct ship_names *n, struct db *db, struct ch_store *s);

/*
 * Reads the images, streams and contexts that epochs refer to, and the names of their
 * containers, in the caller's transaction; and sends what was read.
 */
int ship_names_read(struct ship_names *n, struct db *db, const struct ship_epoch *e,
		    size_t nr);
int ship_names_send(struct ship_names *n, struct ch_store *s);

/*
 * Sends names, code and captures that the store lacks, of all images of the database.
 * With only_known it does so only for images that were in the store's table image when
 * it was asked, or that the process sent.
 * An image has at most SHIP_MAX_PARTS parts of captures in the store; later ones stay
 * on their machines.
 */
#define SHIP_MAX_PARTS 256
int ship_names_of_images(struct ship_names *n, struct db *db, struct ch_store *s,
			 bool only_known);

#endif
