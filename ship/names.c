/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.c - sends what ids stand for, and what is known of images
 */
#include "config.h"

#include "ship/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/log.h"
#include "db/clickhouse/fleetid.h"
#include "db/clickhouse/storetables.h"
#include "db/core/sql.h"
#include "ship/sums.h"

#define MAX_KEYS_BYTES (64u << 20)
#define MAX_ASKED      500        /* images in one question */
#define MAX_STARTS     10000      /* the same of rows: ClickHouse reads 256 KiB */
#define MAX_ROWS_BYTES (8u << 20) /* of one insert, beyond one row */
#define MAX_SENT       (1u << 20) /* then all is forgotten, and sent again */

/* A row that was sent, or how many rows of an image were. */
struct sent {
	struct hnode node;
	const struct storetable *table;
	uint64_t id, nr;
	uint64_t *start; /* of code made at run time: where they start, in order */
};

/* Where rows of an image start, in order. */
struct starts {
	uint64_t *start;
	size_t nr;
};

#define NR_REFERRED 4

struct ship_names {
	struct hmap sent;
	struct buf read[NR_REFERRED]; /* noted in sent, and not sent yet */
	bool is_read;
	bool has_asked; /* sent has the images of the database that the store knows */
};

static uint64_t sent_hash(const struct storetable *table, uint64_t id)
{
	return hash_bytes(id, table->name, strlen(table->name));
}

static struct sent *find_sent(const struct ship_names *n,
			      const struct storetable *table, uint64_t id)
{
	struct hnode *node = hmap_first(&n->sent, sent_hash(table, id));

	for (; node; node = hmap_next(node)) {
		struct sent *s = container_of(node, struct sent, node);

		if (s->table == table && s->id == id)
			return s;
	}
	return NULL;
}

static void forget(struct ship_names *n)
{
	struct hnode *node, *following;

	hmap_for_each (&n->sent, node, following) {
		struct sent *s = container_of(node, struct sent, node);

		hmap_remove(&n->sent, node);
		free(s->start);
		free(s);
	}
	n->has_asked = false;
}

static void drop_read(struct ship_names *n)
{
	for (size_t k = 0; k < NR_REFERRED; k++)
		buf_fini(&n->read[k]);
	n->is_read = false;
}

static int note_sent(struct ship_names *n, const struct storetable *table, uint64_t id,
		     uint64_t nr)
{
	struct sent *s = find_sent(n, table, id);

	if (s) {
		s->nr = nr;
		return 0;
	}
	if (n->sent.nr >= MAX_SENT)
		forget(n);
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->table = table;
	s->id = id;
	s->nr = nr;
	if (hmap_insert(&n->sent, &s->node, sent_hash(table, id))) {
		free(s);
		return -ENOMEM;
	}
	return 0;
}

/* Takes over the starts of an image's rows that the store has. */
static int note_starts(struct ship_names *n, const struct storetable *table,
		       uint64_t id, struct starts *all)
{
	int err = note_sent(n, table, id, all->nr);
	struct sent *s = err ? NULL : find_sent(n, table, id);

	if (s) {
		free(s->start);
		s->start = all->start;
		*all = (struct starts){ 0 };
	}
	return err;
}

struct ship_names *ship_names_new(void)
{
	return calloc(1, sizeof(struct ship_names));
}

void ship_names_free(struct ship_names *n)
{
	if (!n)
		return;
	forget(n);
	drop_read(n);
	hmap_fini(&n->sent);
	free(n);
}

static int insert(struct ch_store *s, const struct storetable *table, struct buf *rows)
{
	char columns[128];
	int err;

	snprintf(columns, sizeof(columns), "%s (%s)", table->name, table->columns);
	err = ch_store_insert(s, columns, table->types, rows);
	buf_reset(rows);
	return err;
}

/* A row that the store has of an image. */
struct key {
	uint64_t image, key;
};

struct sending {
	struct ship_names *names;
	struct db *db;
	sqlite3 *h; /* of db */
	struct ch_store *store;
	const struct storetable *table;
	struct buf rows;
	/* Of the images that were asked for: what the store has, in order. */
	struct key *key;
	size_t nr_keys;
	/* Of the image that is read: rows that the store has, may have, and gets. */
	uint64_t image;
	size_t had, max_parts, nr_put;
	bool more; /* rows that did not fit into one insert */
};

/* An image that has rows of a table, and how many. */
struct local_image {
	int64_t local;
	uint64_t id, nr;
	bool is_made; /* of code made at run time */
};

struct local_images {
	struct local_image *image;
	size_t nr;
};

/*
 * The key of a row in `sent`: its id; for the name of a container a hash of the context
 * and the container's id.
 */
static uint64_t thing_key(const struct sending *s, sqlite3_stmt *st)
{
	const uint64_t key = (uint64_t)sqlite3_column_int64(st, 0);
	const void *id;
	size_t size;

	if (s->table != &storetable_container)
		return key;
	id = sql_blob(st, 1, &size);
	return hash_bytes(key, id, size);
}

/*
 * What `sent` has as nr: of a container a hash of the name that was sent last, so that
 * a new name is sent, also if it is an earlier one again.
 */
static uint64_t thing_value(const struct sending *s, sqlite3_stmt *st)
{
	const void *name;
	size_t size;

	if (s->table != &storetable_container)
		return 1;
	name = sql_blob(st, 2, &size);
	return hash_bytes(0, name, size);
}

static int put_thing(sqlite3_stmt *st, void *ctx)
{
	struct sending *s = ctx;
	const uint64_t id = thing_key(s, st), value = thing_value(s, st);
	const struct sent *sent = find_sent(s->names, s->table, id);

	if (sent && sent->nr == value)
		return 0;
	ship_rows_put(st, s->table->types, &s->rows);
	return note_sent(s->names, s->table, id, value);
}

static int put_local(sqlite3_stmt *st, void *ctx)
{
	struct sending *s = ctx;

	return sql_each(s->h, put_thing, s, s->table->select, "i",
			sqlite3_column_int64(st, 0));
}

#define CONTEXTS                                                                       \
	"SELECT context FROM profile WHERE epoch = ?1 UNION SELECT context FROM stack" \
	" WHERE epoch = ?1 UNION SELECT context FROM edge WHERE epoch = ?1"            \
	" UNION SELECT context FROM window_set WHERE epoch = ?1"                       \
	" UNION SELECT context FROM access_set WHERE epoch = ?1"

static const struct {
	const struct storetable *table;
	const char *ids; /* that rows of epoch ?1 refer to */
} referred[NR_REFERRED] = {
	{ &storetable_image,
	  "SELECT image FROM profile WHERE epoch = ?1 UNION SELECT image FROM comm"
	  " WHERE epoch = ?1 UNION SELECT image FROM edge WHERE epoch = ?1"
	  " UNION SELECT target FROM edge WHERE epoch = ?1"
	  " UNION SELECT image FROM stack_image WHERE epoch = ?1"
	  " UNION SELECT image FROM window_set WHERE epoch = ?1"
	  " UNION SELECT image FROM access_set WHERE epoch = ?1"
	  " UNION SELECT image FROM spread WHERE epoch = ?1" },
	{ &storetable_stream,
	  "SELECT stream FROM tally WHERE epoch = ?1 UNION SELECT stream FROM profile"
	  " WHERE epoch = ?1 UNION SELECT stream FROM comm WHERE epoch = ?1"
	  " UNION SELECT stream FROM stack WHERE epoch = ?1 UNION SELECT stream FROM"
	  " edge WHERE epoch = ?1 UNION SELECT stream FROM window_set WHERE epoch = "
	  "?1 UNION SELECT stream FROM access_set WHERE epoch = ?1" },
	{ &storetable_context, CONTEXTS },
	{ &storetable_container, CONTEXTS }, /* those that have one, and its name */
};

/* What an epoch's rows refer to. */
static int put_referred(struct sending *s, const struct ship_epoch *e, size_t k)
{
	const bool is_image = s->table == &storetable_image;
	const int64_t *id = is_image ? e->image : e->stream;
	const size_t nr = is_image ? e->nr_images : e->nr_streams;
	int err = 0;

	if (!e->one_in)
		return sql_each(s->h, put_local, s, referred[k].ids, "i", e->id);
	if (s->table == &storetable_context || s->table == &storetable_container)
		return 0; /* sums have no contexts */
	for (size_t i = 0; !err && i < nr; i++)
		err = sql_each(s->h, put_thing, s, s->table->select, "i", id[i]);
	return err;
}

int ship_names_read(struct ship_names *n, struct db *db, const struct ship_epoch *e,
		    size_t nr)
{
	struct sending s = { .names = n, .db = db, .h = db_handle(db) };
	int err = 0;

	if (n->is_read) /* what was read before was not sent */
		forget(n);
	drop_read(n);
	n->is_read = true;
	for (size_t k = 0; !err && k < NR_REFERRED; k++) {
		s.table = referred[k].table;
		for (size_t i = 0; !err && i < nr; i++) {
			err = ship_sums_weigh(s.h, &e[i]);
			if (!err)
				err = put_referred(&s, &e[i], k);
		}
		n->read[k] = s.rows;
		s.rows = (struct buf){ 0 };
	}
	return err;
}

int ship_names_send(struct ship_names *n, struct ch_store *store)
{
	int err = 0;

	for (size_t k = 0; !err && k < NR_REFERRED; k++)
		err = insert(store, referred[k].table, &n->read[k]);
	if (!err)
		n->is_read = false;
	return err;
}

static int note_key(void *ctx, const struct rowbinary_cell *cells)
{
	struct sending *s = ctx;

	if (GROW(s->key, s->nr_keys))
		return -ENOMEM;
	s->key[s->nr_keys++] = (struct key){ cells[0].n, cells[1].n };
	return 0;
}

/* How many keys are less. */
static size_t keys_before(const struct sending *s, uint64_t image, uint64_t key)
{
	size_t low = 0, high = s->nr_keys;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct key *k = &s->key[mid];

		if (k->image < image || (k->image == image && k->key < key))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool has_key(const struct sending *s, uint64_t key)
{
	const size_t at = keys_before(s, s->image, key);

	return at < s->nr_keys && s->key[at].image == s->image && s->key[at].key == key;
}

/* In the list of a statement. */
static void put_images(const struct local_image *image, size_t nr, struct buf *sql)
{
	for (size_t i = 0; i < nr; i++)
		buf_printf(sql, "%s%" PRIu64, i ? "," : "", image[i].id);
	buf_puts(sql, ")");
}

static bool is_capture(const struct sending *s)
{
	return !strcmp(s->table->name, "capture");
}

/*
 * Asks which rows of the images the store has. The second column tells the rows of one
 * image apart: it is where the row starts, or an id. With `starts`, asks only for rows
 * that start there.
 */
static int find_keys(struct sending *s, const struct local_image *image, size_t nr,
		     const struct starts *starts)
{
	struct buf sql = { 0 };
	int err;

	free(s->key);
	s->key = NULL;
	s->nr_keys = 0;
	buf_printf(&sql, "SELECT DISTINCT image, %s AS k FROM %s WHERE image IN (",
		   is_capture(s) ? "id" : "start", s->table->name);
	put_images(image, nr, &sql);
	for (size_t i = 0; starts && i < starts->nr; i++)
		buf_printf(&sql, "%s%" PRIu64, i ? "," : " AND start IN (",
			   starts->start[i]);
	buf_printf(&sql, "%s ORDER BY image, k FORMAT RowBinary", starts ? ")" : "");
	err = ch_store_query_buf(s->store, &sql, "88", MAX_KEYS_BYTES, note_key, s);
	buf_fini(&sql);
	return err;
}

/* Rows beyond a bound wait for the next insert. */
static int put_part(sqlite3_stmt *st, void *ctx)
{
	struct sending *s = ctx;

	if (s->had + s->nr_put >= s->max_parts ||
	    has_key(s, (uint64_t)sqlite3_column_int64(st, 1)))
		return 0;
	if (s->rows.len >= MAX_ROWS_BYTES) {
		s->more = true;
		return 0;
	}
	s->nr_put++;
	ship_rows_put(st, s->table->types, &s->rows);
	return s->rows.err;
}

/* Reads rows that the store lacks, as many as fit into one insert. */
static int read_parts(struct sending *s, const struct local_image *image)
{
	s->image = image->id;
	s->had = keys_before(s, image->id, UINT64_MAX) - keys_before(s, image->id, 0);
	s->max_parts = is_capture(s) ? SHIP_MAX_PARTS : SIZE_MAX;
	s->nr_put = 0;
	if (s->had >= s->max_parts)
		return 0;
	return sql_each(s->h, put_part, s, s->table->select, "i", image->local);
}

/*
 * Sends what the store lacks of images, in one insert. Sets *nr_done to the number of
 * images for which nothing is left to send. No transaction is open while the store is
 * asked.
 */
static int send_images(struct sending *s, const struct local_image *image, size_t nr,
		       size_t *nr_done)
{
	int err = find_keys(s, image, nr, NULL);
	size_t done = 0;

	s->more = false;
	while (!err && done < nr) {
		err = read_parts(s, &image[done]);
		if (s->more)
			break;
		done++;
	}
	if (!err)
		err = db_read_check(s->db);
	if (!err)
		err = insert(s->store, s->table, &s->rows);
	for (size_t i = 0; !err && i < done; i++)
		err = note_sent(s->names, s->table, image[i].id, image[i].nr);
	*nr_done = done;
	return err;
}

/*
 * Fails if the store does not show a former insert, because it would get the same rows
 * for ever.
 */
static int send_all(struct sending *s, const struct local_image *image, size_t nr)
{
	const struct local_image *begun = NULL; /* a part of it was sent */
	size_t had = 0;                         /* rows that the store had then */
	size_t nr_done;
	int err = 0;

	for (; !err && nr; image += nr_done, nr -= nr_done) {
		err = send_images(s, image, nr < MAX_ASKED ? nr : MAX_ASKED, &nr_done);
		if (err || !s->more)
			continue;
		if (begun == image + nr_done && s->had <= had) {
			log_err("ship: the store accepted rows of table %s, but does "
				"not return them",
				s->table->name);
			return -EIO;
		}
		begun = s->nr_put ? image + nr_done : NULL;
		had = s->had;
	}
	return err;
}

static int note_start(sqlite3_stmt *st, void *ctx)
{
	struct starts *list = ctx;

	if (GROW(list->start, list->nr))
		return -ENOMEM;
	list->start[list->nr++] = (uint64_t)sqlite3_column_int64(st, 0);
	return 0;
}

/* Appends a row, unless the store has it; if there is enough, sends what there is. */
static int send_start(struct sending *s, const struct local_image *image,
		      uint64_t start)
{
	char sql[1024];
	int err;

	if (has_key(s, start))
		return 0;
	snprintf(sql, sizeof(sql), "%s AND t.start = ?2", s->table->select);
	err = sql_each(s->h, put_part, s, sql, "ii", image->local, (int64_t)start);
	if (!err && s->rows.len >= MAX_ROWS_BYTES)
		err = insert(s->store, s->table, &s->rows);
	return err;
}

/* Sends those of the rows that the store lacks. */
static int send_starts(struct sending *s, const struct local_image *image,
		       const struct starts *starts)
{
	int err = find_keys(s, image, 1, starts);

	s->image = image->id;
	s->had = s->nr_put = 0;
	s->max_parts = SIZE_MAX;
	for (size_t i = 0; !err && i < starts->nr; i++)
		err = send_start(s, image, starts->start[i]);
	if (!err)
		err = db_read_check(s->db);
	return err ? err : insert(s->store, s->table, &s->rows);
}

/* Removes from *list what is in former; both are in order. */
static void remove_former(struct starts *list, const struct starts *former)
{
	size_t nr = 0, k = 0;

	for (size_t i = 0; i < list->nr; i++) {
		while (k < former->nr && former->start[k] < list->start[i])
			k++;
		if (k == former->nr || former->start[k] != list->start[i])
			list->start[nr++] = list->start[i];
	}
	list->nr = nr;
}

/*
 * Code made at run time: all processes of a name are one image in the store, so it has
 * rows of thousands of machines. Where a row starts is a hash of what it is. So the
 * store is asked for this machine's rows only, and for each once.
 */
static int send_made(struct sending *s, const struct local_image *image)
{
	const struct sent *sent = find_sent(s->names, s->table, image->id);
	struct starts all = { 0 }, added = { 0 };
	char sql[80];
	int err;

	snprintf(sql, sizeof(sql), "SELECT start FROM %s WHERE image = ?1 ORDER BY 1",
		 s->table->name);
	err = sql_each(s->h, note_start, &all, sql, "i", image->local);
	if (!err)
		err = sql_each(s->h, note_start, &added, sql, "i", image->local);
	if (!err)
		err = db_read_check(s->db);
	if (!err && sent)
		remove_former(&added, &(struct starts){ sent->start, sent->nr });
	for (size_t i = 0; !err && i < added.nr; i += MAX_STARTS) {
		const size_t nr = added.nr - i < MAX_STARTS ? added.nr - i : MAX_STARTS;

		err = send_starts(s, image, &(struct starts){ added.start + i, nr });
	}
	if (!err)
		err = note_starts(s->names, s->table, image->id, &all);
	free(all.start);
	free(added.start);
	return err;
}

/* An image's local id, its id in the store, its number of rows, and its kind */
static int note_image(sqlite3_stmt *st, void *ctx)
{
	struct local_images *list = ctx;

	if (GROW(list->image, list->nr))
		return -ENOMEM;
	list->image[list->nr++] = (struct local_image){
		.local = sqlite3_column_int64(st, 0),
		.id = (uint64_t)sqlite3_column_int64(st, 1),
		.nr = (uint64_t)sqlite3_column_int64(st, 2),
		.is_made = sqlite3_column_int(st, 3) == IMAGE_JIT,
	};
	return 0;
}

/* id */
static int note_known(void *ctx, const struct rowbinary_cell *cells)
{
	return note_sent(ctx, &storetable_image, cells[0].n, 1);
}

static int ask_known(struct ship_names *n, struct ch_store *store,
		     const struct local_image *image, size_t nr)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT DISTINCT id FROM image WHERE id IN (");
	put_images(image, nr, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	err = ch_store_query_buf(store, &sql, "8", MAX_KEYS_BYTES, note_known, n);
	buf_fini(&sql);
	return err;
}

int ship_names_ask(struct ship_names *n, struct db *db, struct ch_store *store)
{
	static const char sql[] =
		"SELECT id, " FLEETID_IMAGE("i") ", 1, kind FROM image i";
	struct local_images list = { 0 };
	int err;

	if (n->has_asked)
		return 0;
	err = sql_each(db_handle(db), note_image, &list, sql, "");
	if (!err)
		err = db_read_check(db);
	n->has_asked = true; /* unless the list is cleared meanwhile */
	for (size_t i = 0; !err && i < list.nr; i += MAX_ASKED)
		err = ask_known(n, store, list.image + i,
				list.nr - i < MAX_ASKED ? list.nr - i : MAX_ASKED);
	if (err)
		n->has_asked = false;
	free(list.image);
	return err;
}

/* Keeps the images that have got rows since they were sent; returns their number. */
static size_t choose(const struct sending *s, struct local_images *list,
		     bool only_known)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct local_image *image = &list->image[i];
		const struct sent *sent = find_sent(s->names, s->table, image->id);

		if (sent && sent->nr == image->nr)
			continue;
		if (!only_known || find_sent(s->names, &storetable_image, image->id))
			list->image[nr++] = *image;
	}
	return nr;
}

/* The first nr of the list, which it changes. */
static int send_chosen(struct sending *s, struct local_images *list, size_t nr)
{
	size_t others = 0;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		if (list->image[i].is_made && !is_capture(s))
			err = send_made(s, &list->image[i]);
		else
			list->image[others++] = list->image[i];
	}
	return err ? err : send_all(s, list->image, others);
}

int ship_names_of_images(struct ship_names *n, struct db *db, struct ch_store *store,
			 bool only_known)
{
	struct sending s = { .names = n, .db = db, .h = db_handle(db), .store = store };
	char sql[1024];
	int err = 0;

	for (size_t i = 0; !err && i < storetables_nr_image; i++) {
		struct local_images list = { 0 };

		s.table = &storetables_image[i];
		snprintf(sql, sizeof(sql),
			 "SELECT i.id, " FLEETID_IMAGE(
				 "i") ", t.nr, i.kind FROM (SELECT image,"
				      " count(*) AS nr FROM %s GROUP BY image) t"
				      " JOIN image i ON i.id = t.image",
			 s.table->name);
		err = sql_each(s.h, note_image, &list, sql, "");
		if (!err)
			err = db_read_check(db);
		if (!err)
			err = send_chosen(&s, &list, choose(&s, &list, only_known));
		free(list.image);
	}
	free(s.key);
	buf_fini(&s.rows);
	return err;
}
