/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks_roll.c - an epoch's stacks become those of the epoch it is rolled up into
 *
 * A tree at a time, with its total in both epochs' tallies. One that does not decode
 * stays where it is, as profiles do, and its tally with it.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/stacks_store.h"
#include "db/tallies.h"

struct row {
	int64_t stream, context, total;
	bool counts_once;
};

static const char rows[] =
	"SELECT k.stream, k.context, k.total, c.name = '' OR c.name GLOB 'comm=*'"
	" FROM stack k JOIN context c ON c.id = k.context WHERE k.epoch = ?1 LIMIT 64";

struct list {
	struct row *row;
	size_t nr;
};

static int read_row(sqlite3_stmt *st, void *ctx)
{
	struct list *list = ctx;
	struct row *grown = rows_grow(list->row, list->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->row = grown;
	list->row[list->nr++] = (struct row){
		sqlite3_column_int64(st, 0),
		sqlite3_column_int64(st, 1),
		sqlite3_column_int64(st, 2),
		sqlite3_column_int(st, 3),
	};
	return 0;
}

/* Adds the tree to the target's; the epoch's numbers of images become the target's. */
static int add_to(sqlite3 *h, int64_t epoch, int64_t target, const struct row *row)
{
	const int64_t from[3] = { epoch, row->stream, row->context };
	const int64_t to[3] = { target, row->stream, row->context };
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);
	struct stack_images im = { 0 };
	int err = t ? stacks_read(h, from, t) : -ENOMEM;

	if (!err)
		err = stacks_images(h, epoch, &im);
	for (uint32_t i = 0; !err && i < im.nr; i++)
		err = stacks_number(h, target, im.id[i], &im.map[i]);
	if (!err)
		err = stacks_add(h, to, t, im.map, im.nr);
	stacks_images_fini(&im);
	stack_tree_free(t);
	return err;
}

static int remove_row(sqlite3 *h, int64_t epoch, const struct row *row)
{
	int err = sql_do(h,
			 "DELETE FROM stack WHERE epoch = ?1 AND stream = ?2"
			 " AND context = ?3",
			 "iii", epoch, row->stream, row->context);

	if (err || !row->counts_once)
		return err;
	return tallies_take(h, TALLIES_STACKS, epoch, row->stream, row->total);
}

static int move_row(sqlite3 *h, int64_t epoch, int64_t target, const struct row *row)
{
	int err = add_to(h, epoch, target, row);

	if (!err && row->counts_once)
		err = tallies_give(h, TALLIES_STACKS, target, row->stream, row->total);
	return err ? err : remove_row(h, epoch, row);
}

int stacks_move(struct slice *s, int64_t epoch, int64_t target)
{
	struct list list = { 0 };
	int more = 0, err = sql_each(s->h, read_row, &list, rows, "i", epoch);

	for (size_t i = 0; !err && !more && i < list.nr; i++) {
		err = move_row(s->h, epoch, target, &list.row[i]);
		if (err == -CPI_ECORRUPT)
			err = 0;
		else if (!err && i + 1 < list.nr)
			more = slice_is_full(s);
	}
	free(list.row);
	return err ? err : more;
}

int stacks_remove(struct slice *s, int64_t epoch)
{
	struct list list = { 0 };
	int err = sql_each(s->h, read_row, &list, rows, "i", epoch);

	for (size_t i = 0; !err && i < list.nr; i++)
		err = remove_row(s->h, epoch, &list.row[i]);
	free(list.row);
	return err ? err : list.nr > 0;
}
