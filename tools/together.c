/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/together.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "db/join.h"
#include "tools/select.h"

struct together {
	struct db *db[CMD_LIST_MAX];
	struct query_epochs epochs[CMD_LIST_MAX];
	struct join_part part[CMD_LIST_MAX];
};

/* "2:REST": what is behind the number, which is 0 without one. */
static int parse_nr(const char *spec, unsigned int nr_dbs, unsigned long *nr,
		    const char **rest)
{
	char *end;

	*nr = 0;
	*rest = spec;
	if (!isdigit((unsigned char)*spec))
		return 0;
	*nr = strtoul(spec, &end, 10);
	if (*end != ':') {
		*nr = 0;
		return 0;
	}
	*rest = end + 1;
	return *nr >= 1 && *nr <= nr_dbs ? 0 : -EINVAL;
}

/* Of ids with commas between; spec is cut up. */
static int pick_ids(char *spec, unsigned int nr, unsigned int nr_dbs, struct buf *ids)
{
	const char *item, *id;
	unsigned long of;
	int err = 0;

	while (!err && (item = strsep(&spec, ","))) {
		err = parse_nr(item, nr_dbs, &of, &id);
		if (!err && (!of || of == nr))
			buf_printf(ids, "%s%s", ids->len ? "," : "", id);
	}
	return err ? err : ids->err;
}

int together_spec(const char *spec, unsigned int nr, unsigned int nr_dbs, char **out)
{
	struct buf ids = { 0 };
	const char *rest = spec;
	unsigned long of = nr;
	char *copy;
	int err;

	if (strchr(spec, ',') && !spec[strspn(spec, "0123456789:,")]) {
		copy = strdup(spec);
		err = copy ? pick_ids(copy, nr, nr_dbs, &ids) : -ENOMEM;
		free(copy);
		of = ids.len ? nr : 0;
		rest = buf_str(&ids);
	} else {
		err = parse_nr(spec, nr_dbs, &of, &rest);
		of = of ? of : nr;
	}
	copy = of == nr ? strdup(*rest ? rest : "last") : NULL;
	buf_fini(&ids);
	if (!err && of == nr && !copy)
		err = -ENOMEM;
	if (err)
		free(copy);
	else
		*out = copy;
	return err;
}

/* What spec names in database i, which may be nothing. */
static int find_in(const struct cmd_context *ctx, const char *spec, int i,
		   struct together *t)
{
	const struct query_machines of = { ctx->opt.host, ctx->opt.platform };
	char *own = NULL;
	int err = together_spec(spec, i + 1, ctx->opt.dbs.nr, &own);

	if (!err && own)
		err = query_epochs_of(t->db[i], own, &of, &t->epochs[i]);
	free(own);
	t->part[i] = (struct join_part){ db_path(t->db[i]), &t->epochs[i] };
	return err == -ENOENT ? 0 : err;
}

static int find_all(const struct cmd_context *ctx, const char *spec, struct together *t)
{
	const int nr = ctx->opt.dbs.nr;
	size_t found = 0;
	int err = 0;

	for (int i = 0; i < nr && !err; i++) {
		err = find_in(ctx, spec, i, t);
		found += t->epochs[i].nr;
	}
	if (err) {
		select_failed_epochs(ctx, t->db[0], spec, err);
		return err;
	}
	for (int i = 0; i < nr && !found; i++)
		select_failed_epochs(ctx, t->db[i], spec, -ENOENT);
	return found ? 0 : -ENOENT;
}

static int join(const struct cmd_context *ctx, const struct together *t,
		struct db **out)
{
	struct buf name = { 0 };
	int err;

	for (int i = 0; i < ctx->opt.dbs.nr; i++)
		buf_printf(&name, "%s%s", i ? ", " : "", ctx->opt.dbs.item[i]);
	err = join_open(buf_str(&name), t->part, ctx->opt.dbs.nr, out);
	buf_fini(&name);
	return err;
}

int together_open(const struct cmd_context *ctx, const char *spec, struct db **out)
{
	const int nr = ctx->opt.dbs.nr;
	struct together t = { 0 };
	int err = 0;

	for (int i = 0; i < nr && !err; i++)
		err = select_open_path(ctx->opt.dbs.item[i], DB_READ, &t.db[i]);
	if (!err)
		err = find_all(ctx, spec ? spec : "last", &t);
	if (!err)
		err = join(ctx, &t, out);
	for (int i = 0; i < nr; i++) {
		query_epochs_fini(&t.epochs[i]);
		db_close(t.db[i]);
	}
	return err;
}
