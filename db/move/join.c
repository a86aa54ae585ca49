/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.c - copies chosen epochs of several databases into a temporary one
 *
 * A query needs a single database, in which each image, stream and context has one row.
 * Copying is slower than reading all files side by side, but every query
 * works on a join without knowing it.
 */
#include "config.h"

#include "db/move/join.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/log.h"
#include "db/core/sql.h"
#include "db/move/copy.h"

/* Chooses an epoch unless an earlier part has it. */
static int choose(sqlite3 *h, const struct join_part *part, int64_t src, int64_t dst)
{
	enum copy_state state;
	int64_t found;
	int err = copy_compare(h, src, &state, &found);

	if (err)
		return err;
	switch (state) {
	case COPY_NEW:
		return copy_choose(h, src, dst);
	case COPY_KNOWN:
		return 0;
	default:
		log_err("%s: epoch %" PRId64 " has samples that another of the "
			"databases also has: choose epochs without common samples",
			part->path, src);
		return -EEXIST;
	}
}

static int choose_all(sqlite3 *h, const struct join_part *part, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < part->epochs->nr; i++) {
		const int64_t id = part->epochs->epoch[i].id;

		if (nr && (id < 0 || id != QUERY_EPOCH_OWN(id)))
			err = -CPI_ELIMIT;
		else
			err = choose(h, part, id, nr ? QUERY_EPOCH_ID(nr, id) : id);
	}
	return err;
}

static int copy_chosen(sqlite3 *h)
{
	bool more = true;
	int err = copy_gather(h);

	if (!err)
		err = copy_gather_captures(h);
	if (!err)
		err = copy_epochs(h, false);
	if (!err)
		err = copy_gaps(h);
	if (!err)
		err = copy_marks(h);
	if (!err)
		err = copy_containers(h);
	while (!err && more)
		err = copy_capture(h, &more);
	return err;
}

static int add_part(sqlite3 *h, const struct join_part *part, size_t nr)
{
	int err = copy_open(h, part->path);

	if (err)
		return err;
	err = sql_exec(h, "BEGIN");
	if (!err)
		err = choose_all(h, part, nr);
	if (!err)
		err = copy_chosen(h);
	if (!err)
		err = sql_exec(h, "COMMIT");
	copy_close(h);
	if (err == -EAGAIN)
		log_err("%s: epochs are being rolled up or removed: try again in a "
			"moment",
			part->path);
	else if (err && err != -EEXIST)
		log_err("%s: its epochs cannot be copied: %s", part->path,
			err_str(err));
	return err;
}

int join_open(const char *name, const struct join_part *part, size_t nr,
	      struct db **out)
{
	struct db *db;
	int err = db_open_temporary(name, &db);

	if (err)
		return err;
	for (size_t i = 0; !err && i < nr; i++)
		err = add_part(db_handle(db), &part[i], nr > 1 ? i + 1 : 0);
	if (err)
		db_close(db);
	else
		*out = db;
	return err;
}
