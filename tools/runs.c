/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tools/select.h"

static int put_ids(struct db *db, const char *spec, struct buf *ids)
{
	struct query_epochs epochs;
	int err = query_epochs(db, spec, &epochs);

	if (err) {
		select_failed_epochs(db, spec, err);
		return err;
	}
	for (size_t i = 0; i < epochs.nr; i++)
		buf_printf(ids, "%s%" PRId64, ids->len ? "," : "", epochs.epoch[i].id);
	query_epochs_fini(&epochs);
	return ids->err;
}

int runs_join(const struct cmd_context *ctx, char *const *args, int nr, char **out)
{
	struct buf ids = { 0 };
	struct db *db = NULL;
	char *joined = NULL;
	int err = 0;

	if (nr > 1)
		err = select_open_db(ctx, DB_READ, &db);
	for (int i = 0; nr > 1 && i < nr && !err; i++)
		err = put_ids(db, args[i], &ids);
	if (!err)
		joined = strdup(nr > 1 ? buf_str(&ids) : args[0]);
	if (!err && !joined)
		err = -ENOMEM;
	if (!err)
		*out = joined;
	db_close(db);
	buf_fini(&ids);
	return err;
}
