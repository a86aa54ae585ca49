/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.c - reads an epoch of a machine's database as rows of a store
 */
#include "config.h"

#include "ship/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/fleetid.h"
#include "db/clickhouse/rowbinary.h"
#include "db/clickhouse/store.h"
#include "db/clickhouse/storetables.h"
#include "db/clickhouse/thin.h"
#include "db/core/sql.h"
#include "db/profile/codec.h"
#include "ship/sums.h"
#include "ship/thin.h"

#define MAX_TEXT 4096

/* Where the rows of a profile go. */
struct profile_rows {
	const struct ship_profile *of;
	struct buf *out, *thin;
	uint64_t *state; /* of draws */
};

struct rows_reader {
	uint64_t state;
	struct ship_epoch *epoch;
	struct ship_rows *out;
	const struct storetable *table;
	struct buf *to;
};

char *ship_copy_text(sqlite3_stmt *st, int column)
{
	return strndup(sql_text(st, column), MAX_TEXT);
}

void ship_epoch_read(sqlite3_stmt *st, struct ship_epoch *e)
{
	*e = (struct ship_epoch){
		.id = sqlite3_column_int64(st, 0),
		.label = ship_copy_text(st, 1),
		.from_ns = (uint64_t)sqlite3_column_int64(st, 2),
		.to_ns = (uint64_t)sqlite3_column_int64(st, 3),
		.uncertainty_ms = (uint64_t)sqlite3_column_int64(st, 4),
		.run_from_ns = (uint64_t)sqlite3_column_int64(st, 5),
		.run_to_ns = (uint64_t)sqlite3_column_int64(st, 6),
		.run_state = (uint64_t)sqlite3_column_int64(st, 7),
		.platform = { .host = ship_copy_text(st, 8),
			      .arch = ship_copy_text(st, 9),
			      .cpu = ship_copy_text(st, 10),
			      .release = ship_copy_text(st, 11),
			      .boot_id = ship_copy_text(st, 12),
			      .clock_hz = (uint64_t)sqlite3_column_int64(st, 13),
			      .nr_cpus = (uint32_t)sqlite3_column_int64(st, 14) },
		.first_flush = (uint64_t)sqlite3_column_int64(st, 15),
		.last_flush = (uint64_t)sqlite3_column_int64(st, 16),
		.received = (uint64_t)sqlite3_column_int64(st, 17),
		.stored = (uint64_t)sqlite3_column_int64(st, 18),
		.lost = (uint64_t)sqlite3_column_int64(st, 19),
		.run = sqlite3_column_int64(st, 20),
	};
	e->address.at = (uint32_t)(e->from_ns / NSEC_PER_SEC);
}

bool ship_epoch_is_whole(const struct ship_epoch *e)
{
	const struct platform_desc *p = &e->platform;

	return e->label && p->host && p->arch && p->cpu && p->release && p->boot_id;
}

void ship_epoch_fini(struct ship_epoch *e)
{
	free(e->label);
	free(e->machine);
	free(e->release);
	free((char *)e->platform.host);
	free((char *)e->platform.arch);
	free((char *)e->platform.cpu);
	free((char *)e->platform.release);
	free((char *)e->platform.boot_id);
	free(e->member);
	free(e->image);
	free(e->stream);
	memset(e, 0, sizeof(*e));
}

size_t ship_rows_bytes(const struct ship_rows *r)
{
	size_t bytes = r->profile.len + r->thin.len;

	for (size_t i = 0; i < SHIP_MAX_TABLES; i++)
		bytes += r->table[i].len;
	return bytes;
}

void ship_rows_fini(struct ship_rows *r)
{
	buf_fini(&r->profile);
	buf_fini(&r->thin);
	for (size_t i = 0; i < SHIP_MAX_TABLES; i++)
		buf_fini(&r->table[i]);
}

void ship_put_address(const struct ship_address *a, struct buf *out)
{
	rowbinary_put(out, '4', a->host);
	rowbinary_put(out, '4', a->at);
	rowbinary_put(out, '2', a->nr);
}

void ship_rows_put(sqlite3_stmt *st, const char *types, struct buf *out)
{
	const void *bytes;
	uint64_t bits;
	double real;
	size_t size;

	for (int i = 0; types[i]; i++) {
		switch (types[i]) {
		case 's':
		case 'b':
			bytes = sql_blob(st, i, &size);
			rowbinary_put_string(out, bytes, size);
			break;
		case 'f':
			real = sqlite3_column_double(st, i);
			memcpy(&bits, &real, sizeof(bits));
			rowbinary_put(out, 'f', bits);
			break;
		default:
			rowbinary_put(out, types[i],
				      (uint64_t)sqlite3_column_int64(st, i));
		}
	}
}

static void put_count(const struct profile_rows *p, unsigned int counter,
		      uint64_t offset, uint64_t n)
{
	if (!n)
		return;
	ship_put_address(&p->of->epoch->address, p->out);
	rowbinary_put(p->out, '8', p->of->image);
	rowbinary_put(p->out, '8', p->of->stream);
	rowbinary_put(p->out, '8', p->of->context);
	rowbinary_put(p->out, '1', counter);
	rowbinary_put(p->out, '8', offset);
	rowbinary_put(p->out, '8', n);
	p->of->epoch->nr_rows++;
}

/* Writes a row for each thinning level at which any samples are left. */
static void put_thinned(const struct profile_rows *p, uint64_t offset, uint64_t n)
{
	for (unsigned int level = 1; n && level <= THIN_LAST; level++) {
		n = thin_draw(p->state, n);
		if (!n || level < THIN_FIRST)
			continue;
		rowbinary_put(p->thin, '1', level);
		ship_put_address(&p->of->epoch->address, p->thin);
		rowbinary_put(p->thin, '8', p->of->image);
		rowbinary_put(p->thin, '8', p->of->stream);
		rowbinary_put(p->thin, '8', offset);
		rowbinary_put(p->thin, '8', n);
	}
}

void ship_rows_put_profile(const struct ship_profile *of, uint64_t *state,
			   struct profile *profile, struct ship_rows *out)
{
	const struct profile_rows p = { of, &out->profile, &out->thin, state };
	size_t nr;
	const struct count *c = profile_sorted(profile, &nr);

	for (size_t i = 0; i < nr; i++) {
		put_count(&p, COUNTER_SAMPLES, c[i].offset, c[i].n);
		put_count(&p, COUNTER_NOT_TAKEN, c[i].offset, c[i].not_taken);
		put_count(&p, COUNTER_TAKEN, c[i].offset, c[i].taken);
		if (!of->context)
			put_thinned(&p, c[i].offset, c[i].n);
	}
	for (int w = 0; w < NR_WEIGHTS; w++) {
		struct profile *weights = profile_weights(profile, w);

		c = weights ? profile_sorted(weights, &nr) : NULL;
		for (size_t i = 0; c && i < nr; i++)
			put_count(&p, COUNTER_WEIGHT + (unsigned int)w, c[i].offset,
				  c[i].n);
	}
}

/* image, stream, context, kind, counts */
static int read_profile(sqlite3_stmt *st, void *ctx)
{
	struct rows_reader *r = ctx;
	const struct ship_profile p = {
		.epoch = r->epoch,
		.image = (uint64_t)sqlite3_column_int64(st, 0),
		.stream = (uint64_t)sqlite3_column_int64(st, 1),
		.context = (uint64_t)sqlite3_column_int64(st, 2),
	};
	const int kind = sqlite3_column_int(st, 3);
	struct profile *profile = profile_new();
	size_t size;
	const void *blob = sql_blob(st, 4, &size);
	int err = profile ? codec_decode(blob, size, (enum profile_kind)kind, profile)
			  : -ENOMEM;

	if (!err)
		ship_rows_put_profile(&p, &r->state, profile, r->out);
	else
		log_err("ship: epoch %lld: a profile: %s", (long long)r->epoch->id,
			err_str(err));
	profile_free(profile);
	return err && err != -ENOMEM ? -CPI_ECORRUPT : err;
}

static int read_profiles(sqlite3 *h, struct rows_reader *r)
{
	static const char sql[] = "SELECT " FLEETID_IMAGE("i") ", " FLEETID_STREAM(
		"s") ", " FLEETID_CONTEXT("c") ", t.kind, t.counts FROM profile t"
					       " JOIN image i ON i.id = t.image JOIN "
					       "stream s ON s.id = t.stream"
					       " JOIN context c ON c.id = t.context"
					       " WHERE t.epoch = ?1 AND t.kind <= 2";

	return sql_each(h, read_profile, r, sql, "i", r->epoch->id);
}

static int read_row(sqlite3_stmt *st, void *ctx)
{
	struct rows_reader *r = ctx;

	ship_put_address(&r->epoch->address, r->to);
	ship_rows_put(st, r->table->types, r->to);
	return r->to->err;
}

int ship_rows_check(sqlite3 *h, const struct ship_epoch *e)
{
	static const char sql[] =
		"SELECT 1 FROM epoch e WHERE e.id = ?1 AND NOT e.open AND e.to_ns = ?2"
		" AND (SELECT max(seq) FROM flush WHERE epoch = e.id) = ?3"
		" AND NOT EXISTS (SELECT 1 FROM roll WHERE epoch = e.id OR target = "
		"e.id)";
	int64_t found;
	int err = sql_get(h, &found, sql, "iii", e->id, e->to_ns, e->last_flush);

	return err == -ENOENT ? -EAGAIN : err;
}

static int read_all(sqlite3 *h, struct rows_reader *r)
{
	int err = ship_rows_check(h, r->epoch);

	if (!err)
		err = read_profiles(h, r);
	for (size_t i = 0; !err && i < storetables_nr_epoch; i++) {
		r->table = &storetables_epoch[i];
		r->to = &r->out->table[i];
		err = sql_each(h, read_row, r, r->table->select, "i", r->epoch->id);
	}
	return err;
}

/* Removes the rows of an epoch that could not be read completely. */
static void cut(struct ship_rows *r, size_t profile, size_t thin, const size_t *table)
{
	r->profile.len = profile;
	r->thin.len = thin;
	for (size_t i = 0; i < SHIP_MAX_TABLES; i++)
		r->table[i].len = table[i];
}

int ship_rows_read(struct db *db, struct ship_epoch *e, struct ship_rows *out)
{
	struct rows_reader r = { .state = thin_seed(), .epoch = e, .out = out };
	const size_t profile = out->profile.len, thin = out->thin.len;
	size_t table[SHIP_MAX_TABLES];
	int err;

	for (size_t i = 0; i < SHIP_MAX_TABLES; i++)
		table[i] = out->table[i].len;
	e->nr_rows = 0;
	err = ship_sums_weigh(db_handle(db), e);
	if (!err)
		err = e->one_in ? ship_sums_read(db, e, out)
				: read_all(db_handle(db), &r);
	if (!err)
		err = out->profile.err ? out->profile.err : out->thin.err;
	if (err)
		cut(out, profile, thin, table);
	return err;
}

int ship_rows_send(const struct ship_rows *r, struct ch_store *store)
{
	static const char profile[] = "profile (host, at, nr, image, stream, context,"
				      " counter, offset, n)";
	static const char thin[] = "thin_profile (level, host, at, nr, image, stream,"
				   " offset, n)";
	int err = ch_store_insert(store, profile, "4t2888188", &r->profile);
	char columns[160], types[ROWBINARY_MAX_COLUMNS + 1];

	if (!err)
		err = ch_store_insert(store, thin, "14t28888", &r->thin);
	for (size_t i = 0; !err && i < storetables_nr_epoch; i++) {
		const struct storetable *t = &storetables_epoch[i];

		snprintf(columns, sizeof(columns), "%s (host, at, nr, %s)", t->name,
			 t->columns);
		snprintf(types, sizeof(types), "4t2%s", t->types);
		err = ch_store_insert(store, columns, types, &r->table[i]);
	}
	return err;
}
