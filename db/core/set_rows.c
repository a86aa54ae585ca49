/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set_rows.c - reads, adds to, moves, removes and checks rows that hold a set
 *
 * A blob cannot be changed in place, so a row is read, merged, and written again. Rows
 * are listed before they are changed, because SQLite does not define the result of a
 * query while its table changes.
 */
#include "config.h"

#include "db/core/set_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "db/core/image_numbers.h"
#include "db/core/sql.h"
#include "db/core/tallies.h"

const struct set_kind *const set_kinds[NR_SET_KINDS] = {
	&edge_set,
	&stack_set,
	&window_set,
	&access_set,
};

struct set_key set_rows_before(int64_t epoch)
{
	return (struct set_key){ epoch,     INT64_MIN, INT64_MIN,
				 INT64_MIN, INT64_MIN, INT64_MIN };
}

/* Binds those of ?1 to ?6 that the statement has. */
static int bind_key(sqlite3_stmt *st, const struct set_key *key)
{
	static const char types[] = "iiiiii";
	const int nr = sqlite3_bind_parameter_count(st);

	return sql_bind(st, &types[nr < 6 ? 6 - nr : 0], key->epoch, key->image,
			key->target, key->stream, key->context, key->kind);
}

static void log_failure(sqlite3 *h, const struct set_kind *kind, int64_t epoch, int err)
{
	log_err("db: %s: %s of epoch %" PRId64 ": %s", sqlite3_db_filename(h, "main"),
		kind->name, epoch, err_str(err));
}

/* Adds the blob in a column to set. */
static int read_blob(sqlite3_stmt *st, int column, const struct set_kind *kind,
		     const struct set_key *key, void *set)
{
	sqlite3 *h = sqlite3_db_handle(st);
	size_t size;
	const void *blob = sql_blob(st, column, &size);
	int err = kind->decode(h, key, blob, size, set);

	if (!err_is_lasting(err))
		return err;
	log_failure(h, kind, key->epoch, err);
	return -CPI_ECORRUPT;
}

int set_rows_read_by(sqlite3_stmt *find, const struct set_kind *kind,
		     const struct set_key *key, void *set)
{
	int err = bind_key(find, key);

	if (!err && (err = sql_step(find)) == 1)
		err = read_blob(find, 0, kind, key, set);
	sqlite3_reset(find);
	return err;
}

int set_rows_read(sqlite3 *h, const struct set_kind *kind, const struct set_key *key,
		  void *set)
{
	sqlite3_stmt *find = NULL;
	int err = sql_prepare(h, kind->find, &find);

	if (!err)
		err = set_rows_read_by(find, kind, key, set);
	sqlite3_finalize(find);
	return err;
}

/* Sums a row, read by the statement, and set; the caller frees *sum in any case. */
static int add_up(sqlite3_stmt *find, const struct set_kind *kind,
		  const struct set_key *key, void *set, const uint32_t *map,
		  uint32_t nr_map, void **sum)
{
	sqlite3 *h = sqlite3_db_handle(find);
	int err;

	*sum = kind->new (key, set);
	err = *sum ? set_rows_read_by(find, kind, key, *sum) : -ENOMEM;
	if (!err && kind->bound)
		err = kind->bound(h, key, *sum);
	if (err)
		return err;
	err = kind->merge(*sum, set, map, nr_map);
	if (err_is_lasting(err))
		log_failure(h, kind, key->epoch, err);
	return err;
}

/* The same with a statement for this row alone. */
static int add_up_once(sqlite3 *h, const struct set_kind *kind,
		       const struct set_key *key, void *set, const uint32_t *map,
		       uint32_t nr_map, void **sum)
{
	sqlite3_stmt *find = NULL;
	int err = sql_prepare(h, kind->find, &find);

	*sum = NULL;
	if (!err)
		err = add_up(find, kind, key, set, map, nr_map, sum);
	sqlite3_finalize(find);
	return err;
}

static int put_row_by(sqlite3_stmt *put, const struct set_kind *kind,
		      const struct set_key *key, void *set)
{
	struct buf blob = { 0 };
	int err = kind->encode(key, set, &blob);

	if (!err && blob.len)
		err = sql_bind(put, "iiiiiiiib", key->epoch, key->image, key->target,
			       key->stream, key->context, key->kind,
			       kind->total(key, set),
			       kind->kept ? kind->kept(set) : (uint64_t)0,
			       (const void *)blob.data, blob.len);
	if (!err && blob.len)
		err = sql_run(put);
	buf_fini(&blob);
	return err;
}

static int put_row(sqlite3 *h, const struct set_kind *kind, const struct set_key *key,
		   void *set)
{
	sqlite3_stmt *put = NULL;
	int err = sql_prepare(h, kind->put, &put);

	if (!err)
		err = put_row_by(put, kind, key, set);
	sqlite3_finalize(put);
	return err;
}

static int prepare_adder(sqlite3 *h, const struct set_kind *kind, struct set_adder *a)
{
	int err = a->find ? 0 : sql_prepare(h, kind->find, &a->find);

	return err || a->put ? err : sql_prepare(h, kind->put, &a->put);
}

int set_adder_add(sqlite3 *h, struct set_adder *a, const struct set_kind *kind,
		  const struct set_key *key, void *set, const uint32_t *map,
		  uint32_t nr_map)
{
	void *sum = NULL;
	int err = prepare_adder(h, kind, a);

	if (!err)
		err = add_up(a->find, kind, key, set, map, nr_map, &sum);
	if (!err)
		err = put_row_by(a->put, kind, key, sum);
	if (err_is_lasting(err))
		log_err("db: %s: epoch %" PRId64 " takes no more %s: begin a new epoch "
			"to go on",
			sqlite3_db_filename(h, "main"), key->epoch, kind->name);
	kind->free(sum);
	return err;
}

void set_adder_fini(struct set_adder *a)
{
	sqlite3_finalize(a->find);
	sqlite3_finalize(a->put);
}

struct listed_row {
	struct set_key key;
	int64_t counted; /* its samples in the tally */
};

struct listed_rows {
	int64_t epoch;
	struct listed_row *row;
	size_t nr;
};

static int list_row(sqlite3_stmt *st, struct listed_rows *list)
{
	if (GROW(list->row, list->nr))
		return -ENOMEM;
	list->row[list->nr++] = (struct listed_row){
		{ list->epoch, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
		  sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3),
		  sqlite3_column_int64(st, 4) },
		sqlite3_column_int64(st, 5),
	};
	return 0;
}

static int list_after(sqlite3 *h, const struct set_kind *kind,
		      const struct set_key *key, struct listed_rows *list)
{
	sqlite3_stmt *st = NULL;
	int err = sql_prepare(h, kind->after, &st);

	*list = (struct listed_rows){ .epoch = key->epoch };
	if (!err)
		err = bind_key(st, key);
	while (!err && (err = sql_step(st)) == 1)
		err = list_row(st, list);
	sqlite3_finalize(st);
	return err;
}

int set_taker_init(sqlite3 *h, const struct set_kind *kind, struct set_taker *t)
{
	int err;

	*t = (struct set_taker){ .kind = kind };
	err = sql_prepare(h, kind->remove, &t->remove);
	return err ? err : tallies_prepare_take(h, &t->tally);
}

void set_taker_fini(struct set_taker *t)
{
	sqlite3_finalize(t->remove);
	sqlite3_finalize(t->tally);
}

int set_taker_take(const struct set_taker *t, const struct set_key *key,
		   int64_t counted)
{
	int err = bind_key(t->remove, key);

	if (!err)
		err = sql_run(t->remove);
	if (!err && sqlite3_changes(sqlite3_db_handle(t->remove)) != 1)
		err = -EAGAIN;
	if (err || !counted)
		return err;
	return tallies_take_by(t->tally, t->kind->tally, key->epoch, key->stream,
			       counted);
}

static int take_rows(sqlite3 *h, const struct set_kind *kind,
		     const struct listed_row *row, size_t nr)
{
	struct set_taker taker;
	int err = set_taker_init(h, kind, &taker);

	for (size_t i = 0; !err && i < nr; i++)
		err = set_taker_take(&taker, &row[i].key, row[i].counted);
	set_taker_fini(&taker);
	return err;
}

/*
 * Adds up a row and the row of the target epoch. The images get numbers in that epoch.
 */
static int add_up_moved(sqlite3 *h, const struct set_kind *kind,
			const struct set_key *from, const struct set_key *to,
			void **sum)
{
	struct image_numbers im = { 0 };
	void *set = kind->new (from, NULL);
	int err = set ? set_rows_read(h, kind, from, set) : -ENOMEM;

	if (!err && kind->numbers_images)
		err = image_numbers_move(h, from->epoch, to->epoch, &im);
	if (!err)
		err = add_up_once(h, kind, to, set, im.map, im.nr, sum);
	image_numbers_fini(&im);
	kind->free(set);
	return err;
}

/*
 * Moves a row. Apart from numbers of images, nothing is written before the sum is known
 * to fit; after that only temporary errors are possible.
 */
static int move_row(sqlite3 *h, const struct set_kind *kind,
		    const struct listed_row *row, int64_t target)
{
	struct set_key to = row->key;
	void *sum = NULL;
	bool stays;
	int err;

	to.epoch = target;
	err = add_up_moved(h, kind, &row->key, &to, &sum);
	stays = err_is_lasting(err);
	if (!err)
		err = put_row(h, kind, &to, sum);
	if (!err && row->counted)
		err = tallies_give(h, kind->tally, target, row->key.stream,
				   row->counted);
	if (!err)
		err = take_rows(h, kind, row, 1);
	kind->free(sum);
	return stays ? 0 : err;
}

int set_rows_move(struct slice *s, const struct set_kind *kind, int64_t target,
		  struct set_key *last)
{
	struct listed_rows list;
	int err = list_after(s->h, kind, last, &list);
	const bool more = list.nr > 0;

	for (size_t i = 0; !err && i < list.nr; i++) {
		err = move_row(s->h, kind, &list.row[i], target);
		*last = list.row[i].key;
		if (slice_is_full(s))
			break;
	}
	free(list.row);
	return err ? err : more;
}

int set_rows_remove(struct slice *s, const struct set_kind *kind, int64_t epoch)
{
	const struct set_key before = set_rows_before(epoch);
	struct listed_rows list;
	int err = list_after(s->h, kind, &before, &list);
	const bool more = list.nr > 0;

	if (!err)
		err = take_rows(s->h, kind, list.row, list.nr);
	free(list.row);
	return err ? err : more;
}

static int check_row(sqlite3_stmt *st, void *ctx)
{
	const struct set_kind *kind = ctx;
	const struct set_key key = {
		sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
		sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3),
		sqlite3_column_int64(st, 4), sqlite3_column_int64(st, 5),
	};
	void *set = kind->new (&key, NULL);
	int err = set ? read_blob(st, 8, kind, &key, set) : -ENOMEM;

	if (!err && (kind->total(&key, set) != (uint64_t)sqlite3_column_int64(st, 6) ||
		     (kind->kept &&
		      kind->kept(set) != (uint64_t)sqlite3_column_int64(st, 7)))) {
		log_err("db: %s: %s of epoch %" PRId64 " do not add up to their total",
			sqlite3_db_filename(sqlite3_db_handle(st), "main"), kind->name,
			key.epoch);
		err = -CPI_ECORRUPT;
	}
	kind->free(set);
	return err;
}

int set_rows_check(sqlite3 *h, const struct set_kind *kind)
{
	return sql_each(h, check_row, (void *)kind, kind->all, "");
}
