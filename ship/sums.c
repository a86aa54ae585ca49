/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.c - adds up epochs, and keeps a random part of the samples
 */
#include "config.h"

#include "ship/sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/fleetid.h"
#include "db/clickhouse/rowbinary.h"
#include "db/clickhouse/storetables.h"
#include "db/core/flush_rows.h"
#include "db/core/sql.h"
#include "db/profile/codec.h"
#include "ship/thin.h"

/* Samples of an image and a stream. */
struct part {
	int64_t image, stream; /* of the database */
	uint64_t kept;
};

/* A stream's samples and losses that are kept. */
struct kept {
	int64_t stream;
	uint64_t stored, lost;
};

/* Of a statement's table: the rows of the sum's epochs. */
#define OF_EPOCHS "epoch IN (SELECT value FROM json_each(?1))"

struct adding {
	sqlite3 *h;
	uint64_t one_in;
	uint64_t state; /* of draws */
	struct ship_epoch *epoch;
	struct ship_rows *out;
	char *ids;              /* of the epochs, as JSON */
	sqlite3_stmt *counts;   /* of one profile */
	struct profile *whole;  /* of one epoch, image and stream */
	int64_t whole_id;       /* that epoch */
	struct profile *sum;    /* what is kept of one image and stream */
	struct part now, drawn; /* the part of sum; that whose commands are drawn */
	uint64_t left, left_kept;
	struct part *part; /* ascending, as the database has them */
	size_t nr_parts;
	struct kept *kept;
	size_t nr_kept;
	struct buf *to;
	bool found_damage; /* members have a damaged profile, and are marked */
};

int ship_sums_prepare(sqlite3 *h)
{
	return sql_exec(h, "CREATE TEMP TABLE weight (one_in INTEGER NOT NULL);"
			   "INSERT INTO temp.weight VALUES (1);"
			   "CREATE TEMP VIEW stream AS SELECT id, event, source,"
			   " cpu_type, unit, min(mean_period, 9223372036854775807 /"
			   " (SELECT one_in FROM temp.weight)) * (SELECT one_in FROM"
			   " temp.weight) AS mean_period, landing FROM main.stream");
}

int ship_sums_weigh(sqlite3 *h, const struct ship_epoch *e)
{
	return sql_do(h, "UPDATE temp.weight SET one_in = ?1", "i",
		      e->one_in ? (int64_t)e->one_in : 1);
}

/* ---- which epochs ---- */

static int add_member(struct ship_epoch *e, const struct ship_epoch *of)
{
	if (GROW(e->member, e->nr_members))
		return -ENOMEM;
	e->member[e->nr_members++] = (struct ship_member){
		.id = of->id,
		.from_ns = of->from_ns,
		.to_ns = of->to_ns,
		.uncertainty_ms = of->uncertainty_ms,
		.last_flush = of->last_flush,
		.received = of->received,
		.stored = of->stored,
		.lost = of->lost,
	};
	return 0;
}

/* Whether no epoch can follow in the sum: its time or run is over, or e has a label. */
static bool is_over(const struct ship_how *how, const struct ship_epoch *e)
{
	const uint64_t number = e->from_ns / how->sums_ns;

	return *e->label || e->run_state || time_real_ns() / how->sums_ns > number + 1;
}

int ship_sums_begin(const struct ship_how *how, struct ship_epoch *e)
{
	e->is_complete = !how->sums_ns || is_over(how, e);
	if (!how->sums_ns)
		return 0;
	e->one_in = how->one_in ? how->one_in : 1;
	return add_member(e, e);
}

bool ship_sums_joins(const struct ship_how *how, const struct ship_epoch *last,
		     const struct ship_epoch *e)
{
	return how->sums_ns && last->one_in && last->run == e->run && !*last->label &&
	       !*e->label &&
	       last->from_ns / how->sums_ns == e->from_ns / how->sums_ns &&
	       last->last_flush + 1 == e->first_flush && e->to_ns >= last->to_ns &&
	       last->nr_members < SHIP_MAX_MEMBERS;
}

/* After members were removed. */
static void add_up(struct ship_epoch *e)
{
	e->received = e->stored = e->lost = e->uncertainty_ms = 0;
	for (size_t i = 0; i < e->nr_members; i++) {
		const struct ship_member *m = &e->member[i];

		if (m->uncertainty_ms > e->uncertainty_ms)
			e->uncertainty_ms = m->uncertainty_ms;
		if (m->damaged)
			continue;
		e->received += m->received;
		e->stored += m->stored;
		e->lost += m->lost;
	}
}

int ship_sums_join(struct ship_epoch *last, const struct ship_epoch *e)
{
	int err = add_member(last, e);

	if (err)
		return err;
	last->to_ns = e->to_ns;
	last->last_flush = e->last_flush;
	last->run_to_ns = e->run_to_ns;
	last->received += e->received;
	last->stored += e->stored;
	last->lost += e->lost;
	if (e->uncertainty_ms > last->uncertainty_ms)
		last->uncertainty_ms = e->uncertainty_ms;
	return 0;
}

static uint64_t hour_of(uint64_t ns)
{
	return ns / NSEC_PER_HOUR;
}

bool ship_sums_cut(struct ship_epoch *last, uint64_t from_ns)
{
	const size_t had = last->nr_members;
	const struct ship_member *m = last->member;
	size_t nr = 0;

	if (!had || hour_of(from_ns) > hour_of(m[had - 1].from_ns))
		return false;
	while (nr < had && hour_of(m[nr].from_ns) < hour_of(from_ns) &&
	       hour_of(m[nr].from_ns) < hour_of(m[had - 1].from_ns))
		nr++;
	while (!nr || (nr < had && hour_of(m[nr].from_ns) == hour_of(m[0].from_ns)))
		nr++;
	if (nr == had)
		return false;
	last->nr_members = nr;
	last->to_ns = m[nr - 1].to_ns;
	last->last_flush = m[nr - 1].last_flush;
	add_up(last);
	return true;
}

/* ---- samples ---- */

static struct kept *find_kept(struct adding *a, int64_t stream)
{
	for (size_t i = 0; i < a->nr_kept; i++) {
		if (a->kept[i].stream == stream)
			return &a->kept[i];
	}
	if (GROW(a->kept, a->nr_kept))
		return NULL;
	a->kept[a->nr_kept] = (struct kept){ .stream = stream };
	return &a->kept[a->nr_kept++];
}

static int store_id(struct adding *a, const char *sql, int64_t local, uint64_t *id)
{
	int64_t n = 0;
	int err = sql_get(a->h, &n, sql, "i", local);

	*id = (uint64_t)n;
	return err == -ENOENT ? -CPI_ECORRUPT : err;
}

/* Writes the rows of the part that ends. */
static int end_part(struct adding *a)
{
	static const char image[] = "SELECT " FLEETID_IMAGE("i") " FROM image i WHERE "
								 "i.id = ?1";
	static const char stream[] = "SELECT " FLEETID_STREAM("s") " FROM stream s"
								   " WHERE s.id = ?1";
	struct ship_profile p = { .epoch = a->epoch };
	struct kept *k;
	int err = 0;

	a->now.kept = a->sum ? profile_total(a->sum) : 0;
	if (a->now.kept) {
		k = find_kept(a, a->now.stream);
		if (!k || GROW(a->part, a->nr_parts))
			err = -ENOMEM;
		if (!err)
			err = store_id(a, image, a->now.image, &p.image);
		if (!err)
			err = store_id(a, stream, a->now.stream, &p.stream);
		if (!err) {
			k->stored += a->now.kept;
			a->part[a->nr_parts++] = a->now;
			ship_rows_put_profile(&p, &a->state, a->sum, a->out);
		}
	}
	profile_free(a->sum);
	a->sum = NULL;
	return err;
}

/*
 * Draws which samples of an offset are kept, and adds them; a sample keeps its outcome.
 * If there are more outcomes than samples, outcomes and samples are drawn separately.
 */
static int keep(struct adding *a, const struct count *c)
{
	const bool apart = c->taken > c->n || c->not_taken > c->n - c->taken;
	const uint64_t others = apart ? c->n : c->n - c->taken - c->not_taken;
	struct count kept = { .offset = c->offset };

	kept.taken = thin_draw_of(&a->state, c->taken, a->one_in);
	kept.not_taken = thin_draw_of(&a->state, c->not_taken, a->one_in);
	kept.n = thin_draw_of(&a->state, others, a->one_in);
	if (!apart)
		kept.n += kept.taken + kept.not_taken;
	return profile_add(a->sum, &kept);
}

static struct ship_member *find_member(const struct adding *a, int64_t id)
{
	struct ship_epoch *e = a->epoch;

	for (size_t i = 0; i < e->nr_members; i++) {
		if (e->member[i].id == id)
			return &e->member[i];
	}
	return NULL;
}

/* Marks the member. The others are still read: they may be damaged as well. */
static int note_damage(struct adding *a, int64_t id, int why)
{
	struct ship_member *m = find_member(a, id);

	if (!m)
		return -CPI_ECORRUPT;
	if (!m->damaged)
		log_err("ship: epoch %" PRId64 ": a profile: %s", id, err_str(why));
	m->damaged = true;
	a->found_damage = true;
	return 0;
}

static bool is_damaged(const struct adding *a, int64_t id)
{
	return a->found_damage && find_member(a, id)->damaged;
}

/* What was decoded of one epoch goes into the sum. */
static int end_whole(struct adding *a)
{
	const struct count *c;
	size_t nr;
	int err = 0;

	if (!a->whole)
		return 0;
	c = profile_sorted(a->whole, &nr);
	for (size_t i = 0; !err && i < nr; i++)
		err = keep(a, &c[i]);
	profile_free(a->whole);
	a->whole = NULL;
	return err == -EOVERFLOW ? note_damage(a, a->whole_id, err) : err;
}

static int begin_part(struct adding *a, int64_t image, int64_t stream)
{
	int err;

	if (a->sum && a->now.image == image && a->now.stream == stream)
		return 0;
	err = end_part(a);
	if (err)
		return err;
	a->now = (struct part){ image, stream, 0 };
	a->sum = profile_new();
	return a->sum ? 0 : -ENOMEM;
}

/* counts */
static int decode(struct adding *a, enum profile_kind kind)
{
	const void *blob;
	size_t size;
	int err = sql_step(a->counts);

	if (err <= 0)
		return err ? err : -CPI_ECORRUPT;
	blob = sql_blob(a->counts, 0, &size);
	err = codec_decode(blob, size, kind, a->whole);
	sqlite3_reset(a->counts);
	return err && err != -ENOMEM ? note_damage(a, a->whole_id, err) : err;
}

static int begin_whole(struct adding *a, int64_t image, int64_t stream, int64_t epoch)
{
	int err = end_whole(a);

	if (!err)
		err = begin_part(a, image, stream);
	if (err)
		return err;
	a->whole_id = epoch;
	a->whole = profile_new();
	return a->whole ? 0 : -ENOMEM;
}

/* image, stream, epoch, kind: of an epoch its counts come first, then its outcomes */
static int add_profile(sqlite3_stmt *st, void *ctx)
{
	struct adding *a = ctx;
	const int64_t image = sqlite3_column_int64(st, 0);
	const int64_t stream = sqlite3_column_int64(st, 1);
	const int64_t epoch = sqlite3_column_int64(st, 2);
	const int kind = sqlite3_column_int(st, 3);
	int err = 0;

	if (is_damaged(a, epoch))
		return 0;
	if (kind == PROFILE_COUNT)
		err = begin_whole(a, image, stream, epoch);
	else if (!a->whole || a->whole_id != epoch || a->now.image != image ||
		 a->now.stream != stream)
		return note_damage(a, epoch, -CPI_ECORRUPT);
	if (!err)
		err = sql_bind(a->counts, "iiii", epoch, image, stream, (int64_t)kind);
	return err ? err : decode(a, (enum profile_kind)kind);
}

static int read_samples(struct adding *a)
{
	static const char keys[] =
		"SELECT image, stream, epoch, kind FROM profile WHERE " OF_EPOCHS
		" AND context = 0 AND kind <= 1"
		" ORDER BY image, stream, epoch, kind";
	static const char counts[] =
		"SELECT counts FROM profile WHERE epoch = ?1 AND image = ?2 AND stream"
		" = ?3 AND context = 0 AND kind = ?4";
	int err = sql_prepare(a->h, counts, &a->counts);

	if (!err)
		err = sql_each(a->h, add_profile, a, keys, "s", a->ids);
	if (!err)
		err = end_whole(a);
	return err ? err : end_part(a);
}

/* ---- the ledger ---- */

/* stream, its id, class, name, n */
static int put_loss(sqlite3_stmt *st, void *ctx)
{
	struct adding *a = ctx;
	struct kept *k = find_kept(a, sqlite3_column_int64(st, 0));
	const uint64_t n =
		thin_draw_of(&a->state, (uint64_t)sqlite3_column_int64(st, 4),
			     a->one_in);
	const char *name = sql_text(st, 3);

	if (!k)
		return -ENOMEM;
	if (!n)
		return 0;
	k->lost += n;
	ship_put_address(&a->epoch->address, a->to);
	rowbinary_put(a->to, '1', 0);
	rowbinary_put(a->to, '8', (uint64_t)sqlite3_column_int64(st, 1));
	rowbinary_put(a->to, '1', (uint64_t)sqlite3_column_int64(st, 2));
	rowbinary_put_string(a->to, name, strlen(name));
	rowbinary_put(a->to, '8', n);
	return a->to->err;
}

/* Of a number that may be negative, the part that is kept. */
static uint64_t draw_signed(struct adding *a, int64_t n)
{
	const uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
	const uint64_t kept = thin_draw_of(&a->state, size, a->one_in);

	return n < 0 ? -kept : kept;
}

/* stream, its id, not_delivered, enabled_ns, running_ns, throttled */
static int put_tally(sqlite3_stmt *st, void *ctx)
{
	struct adding *a = ctx;
	const struct kept *k = find_kept(a, sqlite3_column_int64(st, 0));
	const int64_t missing = sqlite3_column_int64(st, 2);

	if (!k)
		return -ENOMEM;
	ship_put_address(&a->epoch->address, a->to);
	rowbinary_put(a->to, '1', 0);
	rowbinary_put(a->to, '8', (uint64_t)sqlite3_column_int64(st, 1));
	rowbinary_put(a->to, '8', k->stored + k->lost);
	rowbinary_put(a->to, '8', k->stored);
	rowbinary_put(a->to, 'i', draw_signed(a, missing));
	for (int i = 3; i < 6; i++)
		rowbinary_put(a->to, '8', (uint64_t)sqlite3_column_int64(st, i));
	return a->to->err;
}

/* How many of the part's samples are kept; they are in the order of the statement. */
static uint64_t kept_of(const struct adding *a, int64_t image, int64_t stream)
{
	size_t low = 0, high = a->nr_parts;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct part *p = &a->part[mid];

		if (p->image == image && p->stream == stream)
			return p->kept;
		if (p->image < image || (p->image == image && p->stream < stream))
			low = mid + 1;
		else
			high = mid;
	}
	return 0;
}

/*
 * comm, image, stream, their ids, n, and n of all commands of the image and stream.
 * Draws which of these commands the kept samples belong to.
 */
static int put_comm(sqlite3_stmt *st, void *ctx)
{
	struct adding *a = ctx;
	const char *comm = sql_text(st, 0);
	const int64_t image = sqlite3_column_int64(st, 1);
	const int64_t stream = sqlite3_column_int64(st, 2);
	const uint64_t n = (uint64_t)sqlite3_column_int64(st, 5);
	uint64_t kept;

	if (a->drawn.image != image || a->drawn.stream != stream) {
		a->drawn = (struct part){ image, stream, 0 };
		a->left = (uint64_t)sqlite3_column_int64(st, 6);
		a->left_kept = kept_of(a, image, stream);
	}
	kept = thin_draw_among(&a->state, n, a->left, a->left_kept);
	a->left -= n < a->left ? n : a->left;
	a->left_kept -= kept;
	if (!kept)
		return 0;
	ship_put_address(&a->epoch->address, a->to);
	rowbinary_put_string(a->to, comm, strlen(comm));
	rowbinary_put(a->to, '8', (uint64_t)sqlite3_column_int64(st, 3));
	rowbinary_put(a->to, '8', (uint64_t)sqlite3_column_int64(st, 4));
	rowbinary_put(a->to, '8', kept);
	return a->to->err;
}

/* Flushes without a hole become one row. */
struct flush_sum {
	struct adding *adding;
	struct flush_row row; /* none if seq is 0 */
};

static int put_flush(const struct flush_sum *f)
{
	const struct flush_row *r = &f->row;
	const int64_t column[] = { r->seq,      r->from_ns, r->to_ns, r->duration_ns,
				   r->received, r->stored,  r->lost,  r->merged };
	struct buf *out = f->adding->to;

	if (!r->seq)
		return 0;
	ship_put_address(&f->adding->epoch->address, out);
	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++)
		rowbinary_put(out, '8', (uint64_t)column[i]);
	return out->err;
}

static int add_flush(sqlite3_stmt *st, void *ctx)
{
	struct flush_sum *f = ctx;
	struct flush_row now;
	int err = flush_row_read(st, &now);

	if (err || (f->row.seq && flush_row_append(&f->row, &now)))
		return err;
	err = put_flush(f);
	f->row = now;
	return err;
}

static int read_flushes(struct adding *a)
{
	static const char sql[] = "SELECT " FLUSH_ROW_COLUMNS
				  " FROM flush WHERE " OF_EPOCHS " ORDER BY seq";
	struct flush_sum f = { .adding = a };
	int err = sql_each(a->h, add_flush, &f, sql, "s", a->ids);

	return err ? err : put_flush(&f);
}

static const char losses[] = "SELECT t.stream, " FLEETID_STREAM(
	"s") ", t.class, t.name, sum(t.n) FROM loss t"
	     " JOIN stream s ON s.id = t.stream WHERE"
	     " t.kind = 0 AND t." OF_EPOCHS " GROUP BY t.stream, t.class, t.name";
static const char tallies[] = "SELECT t.stream, " FLEETID_STREAM(
	"s") ", sum(t.not_delivered), sum(t.enabled_ns), sum(t.running_ns),"
	     " sum(t.throttled) FROM tally t JOIN stream s ON s.id = t.stream"
	     " WHERE t.kind = 0 AND t." OF_EPOCHS " GROUP BY t.stream";
static const char comms[] =
	"SELECT t.comm, t.image, t.stream, " FLEETID_IMAGE("i") ", " FLEETID_STREAM(
		"s") ", t.n, sum(t.n) OVER (PARTITION BY t.image, t.stream) FROM "
		     "(SELECT"
		     " comm, image, stream, sum(n) AS n FROM comm WHERE " OF_EPOCHS
		     " GROUP BY image, stream, comm) t JOIN image i ON i.id = t.image"
		     " JOIN stream s ON s.id = t.stream ORDER BY t.image, t.stream";

/* Losses come first: a tally has their number. */
static const struct {
	const char *table, *sql;
	sql_row_fn fn;
} tables[] = {
	{ "loss", losses, put_loss },
	{ "tally", tallies, put_tally },
	{ "comm", comms, put_comm },
	{ "flush", NULL, NULL },
};

static struct buf *rows_of(struct ship_rows *out, const char *table)
{
	size_t i = 0;

	while (strcmp(storetables_epoch[i].name, table) != 0)
		i++;
	return &out->table[i];
}

static int read_ledger(struct adding *a)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(tables[0]); i++) {
		a->to = rows_of(a->out, tables[i].table);
		err = tables[i].sql ? sql_each(a->h, tables[i].fn, a, tables[i].sql,
					       "s", a->ids)
				    : read_flushes(a);
	}
	return err;
}

/* What the rows refer to, in the database's numbers. */
static int note_names(struct adding *a)
{
	struct ship_epoch *e = a->epoch;

	e->nr_images = e->nr_streams = 0;
	for (size_t i = 0; i < a->nr_parts; i++) {
		if (i && a->part[i].image == a->part[i - 1].image)
			continue;
		if (GROW(e->image, e->nr_images))
			return -ENOMEM;
		e->image[e->nr_images++] = a->part[i].image;
	}
	for (size_t i = 0; i < a->nr_kept; i++) {
		if (GROW(e->stream, e->nr_streams))
			return -ENOMEM;
		e->stream[e->nr_streams++] = a->kept[i].stream;
	}
	return 0;
}

/* Whether all members are as they were found. */
static int check_members(sqlite3 *h, const struct ship_epoch *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < e->nr_members; i++) {
		struct ship_epoch one = { .id = e->member[i].id,
					  .to_ns = e->member[i].to_ns,
					  .last_flush = e->member[i].last_flush };

		err = ship_rows_check(h, &one);
	}
	return err;
}

static int put_ids(const struct ship_epoch *e, char **out)
{
	struct buf ids = { 0 };

	for (size_t i = 0; i < e->nr_members; i++) {
		if (!e->member[i].damaged)
			buf_printf(&ids, "%c%" PRId64, ids.len ? ',' : '[',
				   e->member[i].id);
	}
	buf_puts(&ids, ids.len ? "]" : "[]");
	*out = ids.err ? NULL : strdup(buf_str(&ids));
	buf_fini(&ids);
	return *out ? 0 : -ENOMEM;
}

static void adding_fini(struct adding *a)
{
	sqlite3_finalize(a->counts);
	profile_free(a->whole);
	profile_free(a->sum);
	free(a->ids);
	free(a->part);
	free(a->kept);
}

/* *damaged: members were found to be damaged, and the rows are not right. */
static int read_once(struct db *db, struct ship_epoch *e, struct ship_rows *out,
		     bool *damaged)
{
	struct adding a = { .h = db_handle(db),
			    .one_in = e->one_in,
			    .state = thin_seed(),
			    .epoch = e,
			    .drawn = { -1, -1, 0 },
			    .out = out };
	int err = put_ids(e, &a.ids);

	if (!err)
		err = read_samples(&a);
	*damaged = a.found_damage;
	if (!err && !*damaged)
		err = read_ledger(&a);
	if (!err && !*damaged)
		err = note_names(&a);
	adding_fini(&a);
	return err;
}

static bool has_sound_member(const struct ship_epoch *e)
{
	for (size_t i = 0; i < e->nr_members; i++) {
		if (!e->member[i].damaged)
			return true;
	}
	return false;
}

int ship_sums_read(struct db *db, struct ship_epoch *e, struct ship_rows *out)
{
	const size_t profile = out->profile.len, thin = out->thin.len;
	bool damaged = false;
	int err = check_members(db_handle(db), e);

	if (!err)
		err = read_once(db, e, out, &damaged);
	if (err || !damaged)
		return err;
	if (!has_sound_member(e))
		return -CPI_ECORRUPT;
	out->profile.len = profile;
	out->thin.len = thin;
	e->nr_rows = 0;
	add_up(e);
	err = read_once(db, e, out, &damaged);
	return !err && damaged ? -CPI_ECORRUPT : err;
}
