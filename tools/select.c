/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/select.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"

char *select_glob(const char *text)
{
	const size_t len = strlen(text);
	char *glob;

	if (len > 3 && text[0] == '[' && strpbrk(text, "]\\*?") == text + len - 1)
		return asprintf(&glob, "\\%s", text) < 0 ? NULL : glob;
	return strdup(text);
}

int select_open_db(const struct cmd_context *ctx, enum db_mode mode, struct db **out)
{
	const char *path = ctx->opt.db ? ctx->opt.db : db_default_path();

	if (access(path, F_OK) < 0 && errno == ENOENT) {
		log_err("%s: there is no such database: start cpid, make one with "
			"'cpi record -o %s -- COMMAND', or name another with --db",
			path, path);
		return -ENOENT;
	}
	return db_open(path, mode, out);
}

void select_failed_epochs(struct db *db, const char *spec, int err)
{
	if (err == -EINVAL)
		log_err("'%s' is no epoch: say last, all, an id, -N, a label, a time "
			"(2026-11-20T10:15), A..B, or ids with commas",
			spec);
	else if (err == -ENOENT && spec)
		log_err("%s: there is no epoch '%s': 'cpi epoch list' shows them",
			db_path(db), spec);
	else if (err == -ENOENT)
		log_err("%s: nothing has been stored yet", db_path(db));
	else
		log_err("%s: epochs: %s", db_path(db), err_str(err));
}

/* There is no stream of --event: says which events there are. */
static int failed_event(const struct cmd_context *ctx, const struct selection *sel)
{
	struct query_streams all;
	struct buf names = { 0 };
	int err;

	err = query_streams(sel->db, &sel->epochs, NULL, &all);
	if (err)
		return err;
	for (size_t i = 0; i < all.nr; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", all.stream[i].desc.event);
	log_err("--event=%s: not among the selected epochs' events: %s", ctx->opt.event,
		all.nr ? buf_str(&names) : "(none)");
	buf_fini(&names);
	query_streams_fini(&all);
	return -ENOENT;
}

static int find_gaps(struct selection *sel)
{
	uint64_t from_ns = UINT64_MAX, to_ns = 0;

	for (size_t i = 0; i < sel->epochs.nr; i++) {
		const struct query_epoch *e = &sel->epochs.epoch[i];

		from_ns = e->from_ns < from_ns ? e->from_ns : from_ns;
		to_ns = e->to_ns > to_ns ? e->to_ns : to_ns;
	}
	return query_gaps(sel->db, from_ns, to_ns, &sel->gaps);
}

static int find_all(const struct cmd_context *ctx, struct selection *sel)
{
	int err;

	err = query_epochs(sel->db, ctx->opt.epoch, &sel->epochs);
	if (!err && !sel->epochs.nr)
		err = -ENOENT;
	if (err) {
		select_failed_epochs(sel->db, ctx->opt.epoch, err);
		return err;
	}
	err = query_streams(sel->db, &sel->epochs, ctx->opt.event, &sel->streams);
	if (!err && ctx->opt.event && !sel->streams.nr)
		return failed_event(ctx, sel);
	if (!err)
		err = query_losses(sel->db, &sel->epochs, &sel->losses);
	if (!err)
		err = find_gaps(sel);
	if (err)
		log_err("%s: %s", db_path(sel->db), err_str(err));
	return err;
}

static void select_context(const struct cmd_options *o, struct query_selection *q)
{
	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++) {
		if (!o->context[kind])
			continue;
		q->context = o->context[kind];
		q->kind = kind;
	}
}

int select_open(const struct cmd_context *ctx, struct selection *sel)
{
	int err;

	memset(sel, 0, sizeof(*sel));
	err = select_open_db(ctx, DB_READ, &sel->db);
	if (err)
		return err;
	sel->query = (struct query_selection){ .epochs = &sel->epochs,
					       .event = ctx->opt.event };
	select_context(&ctx->opt, &sel->query);
	if (ctx->opt.image)
		sel->image_glob = select_glob(ctx->opt.image);
	sel->query.image = sel->image_glob;
	if (ctx->opt.image && !sel->image_glob)
		err = -ENOMEM;
	else
		err = find_all(ctx, sel);
	if (err)
		select_close(sel);
	return err;
}

void select_close(struct selection *sel)
{
	query_gaps_fini(&sel->gaps);
	query_losses_fini(&sel->losses);
	query_streams_fini(&sel->streams);
	query_epochs_fini(&sel->epochs);
	db_close(sel->db);
	free(sel->image_glob);
	memset(sel, 0, sizeof(*sel));
}

const struct query_epoch *select_newest(const struct selection *sel)
{
	return &sel->epochs.epoch[sel->epochs.nr - 1];
}

void select_failed_contexts(const struct selection *sel, enum context_kind kind)
{
	const char *name = context_kind_str(kind);

	log_err("%s: the selected epochs have no profiles by %s: collect them with "
		"'cpid --by %s' or 'cpi record --by %s'%s",
		db_path(sel->db), name, name, name,
		kind == CONTEXT_COMM    ? " ('cpi prof --by comm' needs none)"
		: kind == CONTEXT_LABEL ? ", and run programs by 'cpi label'"
					: "");
}

int select_failed(const struct cmd_context *ctx, const struct selection *sel, int err)
{
	if (err == -CPI_EEMPTY && sel->query.context && sel->streams.nr)
		select_failed_contexts(sel, sel->query.kind);
	else if (err == -CPI_EEMPTY)
		log_err("%s: no samples in epoch %" PRId64 " yet: 'cpi flush' has cpid "
			"store what it took, --epoch chooses another",
			db_path(sel->db), select_newest(sel)->id);
	else if (err == -CPI_ELIMIT)
		log_err("%s: too many events: choose one with --event",
			db_path(sel->db));
	else
		log_err("%s: %s", db_path(sel->db), err_str(err));
	return EXIT_FAIL;
}
