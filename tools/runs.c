/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/runs.h"

#include <errno.h>
#include <string.h>

#include "tools/select.h"

static int put_ids(const struct cmd_context *ctx, const char *spec, struct buf *ids)
{
	char id[SELECT_ID_SIZE];
	struct selection sel;
	int err = select_open_epochs(ctx, spec, SELECT_EPOCHS, &sel);

	if (err)
		return err;
	for (size_t i = 0; i < sel.epochs.nr; i++)
		buf_printf(ids, "%s%s", ids->len ? "," : "",
			   select_epoch_id(&sel, &sel.epochs.epoch[i], id));
	select_close(&sel);
	return ids->err;
}

int runs_join(const struct cmd_context *ctx, char *const *args, int nr, char **out)
{
	struct buf ids = { 0 };
	char *joined = NULL;
	int err = 0;

	for (int i = 0; nr > 1 && i < nr && !err; i++)
		err = put_ids(ctx, args[i], &ids);
	if (!err)
		joined = strdup(nr > 1 ? buf_str(&ids) : args[0]);
	if (!err && !joined)
		err = -ENOMEM;
	if (!err)
		*out = joined;
	buf_fini(&ids);
	return err;
}
