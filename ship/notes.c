/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notes.c - sends marks and gaps that were not sent before
 *
 * A hash of each note that was sent is kept: 8 bytes, for some hundred notes of a
 * machine. Notes are read first and sent afterwards, so that no statement is open while
 * the store is asked.
 */
#include "config.h"

#include "ship/notes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "db/core/sql.h"
#include "ship/address.h"
#include "ship/rows.h"

/* ?1: the machine's name in the store; NULL or "": the name in the database */
#define HOST "coalesce(nullif(?1, ''), host)"

static const struct kind {
	const char *columns, *types, *select; /* the host comes first, as a number */
} kinds[] = {
	{ "gap (host, name, from_ns, to_ns, reason)", "4s88s",
	  "SELECT " HOST ", from_ns, to_ns, reason FROM gap ORDER BY host" },
	{ "mark (host, name, at_ns, text)", "4s8s",
	  "SELECT " HOST ", at_ns, text FROM mark ORDER BY host" },
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct hashes {
	uint64_t *hash;
	size_t nr;
};

struct ship_notes {
	struct hashes sent[NR_KINDS]; /* ascending */
};

/* A note that was not sent: its row without the host's number. */
struct fresh {
	char *host;
	struct buf row;
};

struct notes_reader {
	const struct kind *kind;
	const struct hashes *sent;
	struct hashes hashes; /* of fresh */
	struct fresh *fresh;
	size_t nr;
};

static int compare_hash(const void *x, const void *y)
{
	const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static int take_note(sqlite3_stmt *st, void *ctx)
{
	struct notes_reader *r = ctx;
	struct fresh f = { 0 };
	uint64_t hash;

	ship_rows_put(st, r->kind->types + 1, &f.row);
	hash = hash_bytes(0, f.row.data, f.row.len);
	if (f.row.err || (r->sent->nr && bsearch(&hash, r->sent->hash, r->sent->nr,
						 sizeof(hash), compare_hash))) {
		buf_fini(&f.row);
		return f.row.err;
	}
	f.host = strdup(sql_text(st, 0));
	if (!f.host || GROW(r->hashes.hash, r->hashes.nr) || GROW(r->fresh, r->nr)) {
		free(f.host);
		buf_fini(&f.row);
		return -ENOMEM;
	}
	r->hashes.hash[r->hashes.nr++] = hash;
	r->fresh[r->nr++] = f;
	return 0;
}

static void reading_fini(struct notes_reader *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		free(r->fresh[i].host);
		buf_fini(&r->fresh[i].row);
	}
	free(r->fresh);
	free(r->hashes.hash);
}

static int send_fresh(const struct notes_reader *r, struct ch_store *store)
{
	struct buf rows = { 0 };
	uint32_t number = 0;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr; i++) {
		const struct fresh *f = &r->fresh[i];

		if (!i || strcmp(f->host, f[-1].host) != 0)
			err = ship_host_number(store, f->host, &number);
		rowbinary_put(&rows, '4', number);
		buf_put(&rows, f->row.data, f->row.len);
	}
	if (!err)
		err = ch_store_insert(store, r->kind->columns, r->kind->types, &rows);
	buf_fini(&rows);
	return err;
}

static int note_sent(struct hashes *sent, const struct hashes *more)
{
	const size_t nr = sent->nr + more->nr;
	uint64_t *hash;

	if (!more->nr)
		return 0;
	hash = realloc(sent->hash, nr * sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	memcpy(hash + sent->nr, more->hash, more->nr * sizeof(*hash));
	qsort(hash, nr, sizeof(*hash), compare_hash);
	*sent = (struct hashes){ hash, nr };
	return 0;
}

int ship_notes_send(struct ship_notes *n, struct db *db, const char *host,
		    struct ch_store *store)
{
	int err = 0;

	for (size_t i = 0; !err && i < NR_KINDS; i++) {
		struct notes_reader r = { .kind = &kinds[i], .sent = &n->sent[i] };

		err = sql_each(db_handle(db), take_note, &r, kinds[i].select, "s",
			       host);
		if (!err)
			err = db_read_check(db);
		if (!err)
			err = send_fresh(&r, store);
		if (!err)
			err = note_sent(&n->sent[i], &r.hashes);
		reading_fini(&r);
	}
	return err;
}

struct ship_notes *ship_notes_new(void)
{
	return calloc(1, sizeof(struct ship_notes));
}

void ship_notes_free(struct ship_notes *n)
{
	for (size_t i = 0; n && i < NR_KINDS; i++)
		free(n->sent[i].hash);
	free(n);
}
