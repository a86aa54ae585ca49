/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy.h - epochs of one database into another, with all that tells of them
 *
 * The source is attached to the target's connection, read only. What goes along
 * is what the schema says: every row that names an epoch by a foreign key, and of
 * the images that these name every row that is about them.
 *
 *	copy_open()
 *	copy_choose() for each epoch, copy_gather(), copy_gather_captures()
 *	in write transactions: copy_gaps(), copy_images(), copy_capture() until
 *	there is no more
 *	in one: copy_epochs()
 *	copy_forget(), and others may be chosen
 *	copy_close()
 *
 * I1  Platforms, runs, streams, images and contexts are found by what they are
 *     or made, never by their ids.
 * I2  A flush is (run, seq): copy_compare() finds it wherever it is by now.
 */
#ifndef CPI_DB_COPY_H
#define CPI_DB_COPY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Attaches the database at an absolute path to h, outside of a transaction.
 * copy_close() is for after failures, too.
 */
int copy_open(sqlite3 *h, const char *path);
void copy_close(sqlite3 *h);

/* What the target has of an epoch of the source. */
enum copy_state {
	COPY_NEW,      /* nothing */
	COPY_KNOWN,    /* all of it, as this epoch or rolled up into another */
	COPY_GROWN,    /* its beginning, as an epoch that nobody writes to */
	COPY_CONFLICT, /* some of it, otherwise */
};

/* *dst is the target's epoch where it has grown. */
int copy_compare(sqlite3 *h, int64_t src, enum copy_state *state, int64_t *dst);

/* Says, the last time counts, that the source's epoch src is to be the target's dst. */
int copy_choose(sqlite3 *h, int64_t src, int64_t dst);

/*
 * Note what the chosen epochs name, then what was captured of the images among
 * that. They write nothing, so that less is left to do in a transaction.
 */
int copy_gather(sqlite3 *h);
int copy_gather_captures(sqlite3 *h);
int copy_forget(sqlite3 *h);

/*
 * Copies what is there before the epochs: their images; the gaps of their machines
 * from the first to the last of them; and a part of what was captured of the images,
 * where the target has not the same. *more says that there are other parts.
 */
int copy_images(sqlite3 *h);
int copy_gaps(sqlite3 *h);
int copy_capture(sqlite3 *h, bool *more);

/*
 * Copies the chosen epochs, all or (the caller rolls back) none: -CPI_ECORRUPT
 * where the source is not what the schema says, -EAGAIN where its retention is at work
 * on some of them. With ended, none of them is open.
 */
int copy_epochs(sqlite3 *h, bool ended);

/* Takes an epoch out of the target, for its grown self. */
int copy_drop(sqlite3 *h, int64_t dst);

#endif
