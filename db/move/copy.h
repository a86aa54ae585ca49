/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy.h - copies epochs and everything about them into another database
 *
 * The source is attached to the target's connection, read only. The schema decides what
 * is copied: every row that names an epoch by a foreign key, and every row about an
 * image that these rows name.
 *
 *	copy_open()
 *	copy_choose() for each epoch, copy_gather(), copy_gather_captures()
 *	in write transactions: copy_gaps(), copy_marks(), copy_containers(); and
 *		copy_images() with copy_capture(), until there is no more
 *	in one: copy_epochs()
 *	copy_forget(), and others may be chosen
 *	copy_close()
 *
 * I1  Platforms, runs, streams, images and contexts are found by their contents, or
 *     inserted. Their ids are never compared.
 * I2  A flush is (run, seq), so copy_compare() finds it in whichever epoch it is.
 */
#ifndef CPI_DB_COPY_H
#define CPI_DB_COPY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Attaches the database at an absolute path to h, outside of a transaction. It must be
 * of the newest version. After a failure nothing is attached, and copy_close() must not
 * be called: it would log errors.
 */
int copy_open(sqlite3 *h, const char *path);
void copy_close(sqlite3 *h);

/* What the target has of an epoch of the source. */
enum copy_state {
	COPY_NEW,      /* nothing */
	COPY_KNOWN,    /* all of it, as this epoch or rolled up into another */
	COPY_GROWN,    /* its beginning, as an epoch that is not written any more */
	COPY_CONFLICT, /* a part of it, in another way */
};

/* Compares an epoch with the target. *dst becomes the target's epoch, 0 if none. */
int copy_compare(sqlite3 *h, int64_t src, enum copy_state *state, int64_t *dst);

/* Chooses epoch src of the source to become dst of the target; the last call counts. */
int copy_choose(sqlite3 *h, int64_t src, int64_t dst);

/*
 * List what the chosen epochs refer to, and then the captures of their images. Both
 * only read, so that less is left to do in a write transaction.
 */
int copy_gather(sqlite3 *h);
int copy_gather_captures(sqlite3 *h);
int copy_forget(sqlite3 *h);

/*
 * Copy what has to be there before the epochs: their images; the gaps and marks of
 * their machines from the first to the last epoch; the names of containers that their
 * contexts mention; and one part of the captures that the target lacks. *more says
 * whether there are further parts.
 */
int copy_images(sqlite3 *h);
int copy_gaps(sqlite3 *h);
int copy_marks(sqlite3 *h);
int copy_containers(sqlite3 *h);
int copy_capture(sqlite3 *h, bool *more);

/*
 * Copies all chosen epochs. On failure the caller rolls back: -CPI_ECORRUPT if the
 * source breaks its schema, -EAGAIN if retention is working on some of the epochs. With
 * ended, the copies are closed epochs.
 */
int copy_epochs(sqlite3 *h, bool ended);

/* Removes an epoch from the target, so that its longer version can be copied. */
int copy_drop(sqlite3 *h, int64_t dst);

#endif
