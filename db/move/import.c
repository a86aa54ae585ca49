/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.c - adds the epochs of a file to a database in use
 *
 * 	read_source()  the whole file is checked
 * 	survey()       each epoch is compared with what is here; a conflict ends it
 * 	names          gaps, marks and containers, in one transaction
 * 	epochs         each in one transaction: new, grown, or known already
 * 	captures       in slices, while a collector may write in between; last, because
 * 		       retention removes images to which no epoch refers
 *
 * Nothing changes before the survey has passed. What it found may change before an
 * epoch is copied, so that transaction compares again.
 */
#include "config.h"

#include "db/move/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/slice.h"
#include "db/core/sql.h"
#include "db/move/copy.h"
#include "db/query/query.h"

struct import {
	sqlite3 *h;
	const char *path; /* the source's */
	struct slice slice;
	bool keep_ids; /* the target had no epoch */
	struct import_result result;
};

/* Checks the whole source, and reads its epochs and its real path. */
static int read_source(const char *path, struct query_epochs *epochs, char **real)
{
	struct db *src;
	int err = db_open(path, DB_READ, &src);

	if (err)
		return err;
	err = db_check(src);
	if (!err) {
		err = query_epochs(src, "all", epochs);
		if (err == -ENOENT)
			log_err("%s: it has no epochs: nothing was stored there", path);
		else if (err)
			log_err("%s: %s", path, err_str(err));
	}
	*real = err ? NULL : strdup(db_path(src));
	db_close(src);
	return err ? err : *real ? 0 : -ENOMEM;
}

/* Warns if other epochs have this label, which then selects all of them. */
static int mention_label(struct import *im, const char *label)
{
	int64_t nr;
	int err;

	if (!*label)
		return 0;
	err = sql_get(im->h, &nr, "SELECT count(*) FROM main.epoch WHERE label = ?1",
		      "s", label);
	if (!err && nr)
		log_warn("%s: the label '%s' is already in use for %" PRId64
			 " epochs here: it now selects all of them",
			 im->path, label, nr);
	return err;
}

/* Refuses the source before anything is changed. */
static int survey(struct import *im, const struct query_epochs *epochs)
{
	enum copy_state state;
	int64_t dst, nr, rolled;
	int err = sql_get(im->h, &nr, "SELECT count(*) FROM main.epoch", "");

	im->keep_ids = !err && !nr;
	if (!err)
		err = sql_get(im->h, &rolled,
			      "SELECT count(*) FROM src.roll"
			      " WHERE target IS NOT NULL",
			      "");
	if (!err && rolled)
		err = -EAGAIN; /* samples are on their way between its epochs */
	for (size_t i = 0; !err && i < epochs->nr; i++) {
		const struct query_epoch *e = &epochs->epoch[i];

		err = copy_compare(im->h, e->id, &state, &dst);
		if (!err && state == COPY_CONFLICT) {
			log_err("%s: epoch %" PRId64 " is here in part, or is still "
				"written to: nothing was imported",
				im->path, e->id);
			err = -EEXIST;
		}
		if (!err && state == COPY_NEW)
			err = mention_label(im, e->label);
		if (!err)
			err = copy_choose(im->h, e->id, 0);
	}
	return err;
}

/* Ends a slice, and waits so that others can write: they try every millisecond. */
static int end_slice(struct import *im, int err)
{
	err = slice_end(&im->slice, err);
	sqlite3_sleep(2 + im->slice.last_ns / NSEC_PER_MSEC);
	return err;
}

static int import_names(struct import *im)
{
	int err = slice_begin(&im->slice);

	if (err)
		return err;
	err = copy_gaps(im->h);
	if (!err)
		err = copy_marks(im->h);
	if (!err)
		err = copy_containers(im->h);
	return end_slice(im, err);
}

/* Of the images of the first nr epochs. */
static int import_captures(struct import *im, const struct query_epochs *epochs,
			   size_t nr)
{
	bool more = true;
	int err = copy_forget(im->h);

	for (size_t i = 0; !err && i < nr; i++)
		err = copy_choose(im->h, epochs->epoch[i].id, 0);
	if (!err)
		err = copy_gather(im->h);
	if (!err)
		err = copy_gather_captures(im->h);
	while (!err && more) {
		err = slice_begin(&im->slice);
		if (err)
			break;
		/* Retention may have removed images that no epoch uses yet. */
		err = copy_images(im->h);
		while (!err && more && !slice_is_full(&im->slice))
			err = copy_capture(im->h, &more);
		err = end_slice(im, err);
	}
	return err;
}

/* An id of the target for a new epoch. */
static int choose_id(struct import *im, int64_t src, int64_t *dst)
{
	if (im->keep_ids && src > 0 && src == QUERY_EPOCH_OWN(src)) {
		*dst = src;
		return 0;
	}
	return sql_get(im->h, dst, "SELECT coalesce(max(id), 0) + 1 FROM main.epoch",
		       "");
}

/*
 * Replaces an epoch of which the target has only the beginning. If the target's epoch
 * has a label, the label stays.
 */
static int replace(struct import *im, int64_t src, int64_t dst)
{
	struct buf label = { 0 };
	sqlite3_stmt *st = NULL;
	int err = sql_prepare(im->h, "SELECT label FROM main.epoch WHERE id = ?1", &st);

	if (!err)
		err = sql_bind(st, "i", dst);
	if (!err && (err = sql_step(st)) == 1) {
		buf_puts(&label, sql_text(st, 0));
		err = 0;
	}
	sqlite3_finalize(st);
	if (!err)
		err = copy_drop(im->h, dst);
	if (!err)
		err = copy_choose(im->h, src, dst);
	if (!err)
		err = copy_epochs(im->h, true);
	if (!err && label.len)
		err = sql_do(im->h, "UPDATE main.epoch SET label = ?2 WHERE id = ?1",
			     "is", dst, buf_str(&label));
	buf_fini(&label);
	return err;
}

static int import_run(struct import *im, int64_t src, int64_t *dst)
{
	int err = choose_id(im, src, dst);

	if (!err)
		err = copy_choose(im->h, src, *dst);
	return err ? err : copy_epochs(im->h, true);
}

/* In the transaction: what was found before may have changed. */
static int import_one(struct import *im, int64_t src, enum copy_state *state,
		      int64_t *dst)
{
	int err = copy_compare(im->h, src, state, dst);

	if (err)
		return err;
	switch (*state) {
	case COPY_NEW:
		return import_run(im, src, dst);
	case COPY_GROWN:
		return replace(im, src, *dst);
	case COPY_KNOWN:
		return 0;
	case COPY_CONFLICT:
		break;
	}
	log_err("%s: epoch %" PRId64 " was stored here in part by another process: "
		"later epochs were not imported",
		im->path, src);
	return -EEXIST;
}

static void count_copied(struct import_result *r, enum copy_state state, int64_t dst)
{
	r->nr_known += state == COPY_KNOWN;
	r->nr_grown += state == COPY_GROWN;
	if (state != COPY_NEW)
		return;
	if (!r->nr_new++)
		r->first = dst;
	r->last = dst;
}

static int import_epoch(struct import *im, int64_t src)
{
	enum copy_state state;
	int64_t dst;
	int err = copy_forget(im->h);

	if (!err)
		err = copy_choose(im->h, src, 0);
	if (!err)
		err = copy_gather(im->h);
	if (!err)
		err = slice_begin(&im->slice);
	if (err)
		return err;
	err = end_slice(im, import_one(im, src, &state, &dst));
	if (!err)
		count_copied(&im->result, state, dst);
	return err;
}

static int import_all(struct import *im, const struct query_epochs *epochs)
{
	size_t nr = 0;
	int captures_err, err = survey(im, epochs);
	bool begun;

	if (!err)
		err = copy_gather(im->h);
	if (!err)
		err = import_names(im);
	begun = !err;
	while (!err && nr < epochs->nr) {
		err = import_epoch(im, epochs->epoch[nr].id);
		nr += !err;
	}
	/* After a conflict the next import is refused, so it would not do this. */
	if (!err || (err == -EEXIST && begun)) {
		captures_err = import_captures(im, epochs, nr);
		if (err && captures_err)
			log_err("%s: names and code of the imported epochs are missing "
				"here: %s",
				im->path, err_str(captures_err));
		err = err ? err : captures_err;
	}
	if (err == -EAGAIN)
		log_err("%s: its epochs are being rolled up or removed: import it "
			"again in a moment",
			im->path);
	else if (err && err != -EEXIST)
		log_err("%s: import into %s: %s: import it again to go on", im->path,
			sqlite3_db_filename(im->h, "main"), err_str(err));
	return err;
}

int import_epochs(struct db *db, const char *path, struct import_result *out)
{
	struct import im = { .h = db_handle(db), .path = path };
	struct query_epochs epochs = { 0 };
	char *real = NULL;
	int err = read_source(path, &epochs, &real);

	im.slice.h = im.h;
	if (!err && !strcmp(real, db_path(db))) {
		log_err("%s: this is the database itself: name another file", path);
		err = -EINVAL;
	}
	if (!err)
		err = copy_open(im.h, real);
	if (!err) {
		err = import_all(&im, &epochs);
		copy_close(im.h);
		sql_checkpoint(im.h, SQL_BUSY_TIMEOUT_MS);
	}
	query_epochs_fini(&epochs);
	free(real);
	im.result.longest_ns = im.slice.longest_ns;
	if (!err)
		*out = im.result;
	return err;
}
