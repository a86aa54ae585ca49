/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tallies.c - checks and stores the numbers of received, stored and lost samples
 *
 * All kinds of streams share a table of tallies and one of losses; a column has the
 * kind. SQL adds to the rows, so a flush does not read them.
 */
#include "config.h"

#include "db/core/tallies.h"

#include <errno.h>
#include <inttypes.h>

#include "base/log.h"
#include "db/core/intern.h"
#include "db/core/sql.h"
#include "db/profile/stream_account.h"

static const char *const kinds[] = {
	[TALLY_SAMPLES] = "samples",
	[TALLY_STACKS] = "stacks",
	[TALLY_WINDOWS] = "windows",
};

bool tallies_have(const struct flush_streams *s, int stream)
{
	return stream >= 0 && (size_t)stream < s->nr;
}

/* Adds up all losses as one, because db/ does not know the daemon's enum loss. */
static struct stream_account account_of(const struct flush_streams *s, size_t stream,
					uint64_t stored)
{
	struct stream_account a = { .received = s->stream[stream].received,
				    .stored = stored };

	for (size_t i = 0; i < s->nr_losses; i++) {
		if (s->losses[i].stream == (int)stream)
			account_add(&a.lost[0], s->losses[i].n);
	}
	return a;
}

int tallies_check(const struct flush_streams *s, enum tally_kind kind,
		  const uint64_t *stored, uint64_t seq, const char *path)
{
	for (size_t i = 0; i < s->nr_losses; i++) {
		if (tallies_have(s, s->losses[i].stream))
			continue;
		log_err("db: %s: flush %" PRIu64
			" has lost %s of a stream that is not in it",
			path, seq, kinds[kind]);
		return -EINVAL;
	}
	for (size_t i = 0; i < s->nr; i++) {
		const struct flush_stream *stream = &s->stream[i];
		const struct stream_account a = account_of(s, i, stored[i]);

		if (account_adds_up(&a))
			continue;
		log_err("db: %s: flush %" PRIu64
			": %s of %s do not add up: received %" PRIu64
			", stored %" PRIu64 ", lost %" PRIu64,
			path, seq, kinds[kind], stream->desc.event, a.received,
			a.stored, account_nr_lost(&a));
		return -EINVAL;
	}
	return 0;
}

/* Negative numbers become huge unsigned ones, which never add up. */
bool tallies_row_adds_up(sqlite3_stmt *st, int first)
{
	const struct stream_account a = {
		.received = sqlite3_column_int64(st, first),
		.stored = sqlite3_column_int64(st, first + 1),
		.lost[0] = sqlite3_column_int64(st, first + 2),
	};

	return account_adds_up(&a);
}

static int add_tally(sqlite3 *h, enum tally_kind kind, int64_t epoch, int64_t id,
		     const struct flush_stream *s, uint64_t stored)
{
	static const char sql[] =
		"INSERT INTO tally (epoch, kind, stream, received, stored,"
		" not_delivered, enabled_ns, running_ns, throttled)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO UPDATE"
		" SET received = received + excluded.received,"
		" stored = stored + excluded.stored,"
		" not_delivered = not_delivered + excluded.not_delivered,"
		" enabled_ns = enabled_ns + excluded.enabled_ns,"
		" running_ns = running_ns + excluded.running_ns,"
		" throttled = throttled + excluded.throttled";

	return sql_do(h, sql, "iiiiiiiii", epoch, (int64_t)kind, id, s->received,
		      stored, s->not_delivered, s->enabled_ns, s->running_ns,
		      s->throttled);
}

int tallies_add(sqlite3 *h, enum tally_kind kind, int64_t epoch,
		const struct flush_streams *s, const uint64_t *stored, int64_t *id)
{
	static const char lose[] =
		"INSERT INTO loss (epoch, kind, stream, class, name, n)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
		" ON CONFLICT DO UPDATE SET n = n + excluded.n";
	int err = 0;

	for (size_t i = 0; !err && i < s->nr; i++) {
		err = intern_stream(h, &s->stream[i].desc, &id[i]);
		if (!err)
			err = add_tally(h, kind, epoch, id[i], &s->stream[i],
					stored[i]);
	}
	for (size_t i = 0; !err && i < s->nr_losses; i++) {
		const struct flush_loss *l = &s->losses[i];

		if (l->n)
			err = sql_do(h, lose, "iiiisi", epoch, (int64_t)kind,
				     id[l->stream], (int64_t)l->class, l->name, l->n);
	}
	return err;
}

int tallies_prepare_take(sqlite3 *h, sqlite3_stmt **out)
{
	return sql_prepare(
		h,
		"UPDATE tally SET received = received - ?4, stored = stored - ?4"
		" WHERE epoch = ?1 AND kind = ?2 AND stream = ?3",
		out);
}

int tallies_take_by(sqlite3_stmt *take, enum tally_kind kind, int64_t epoch,
		    int64_t stream, int64_t n)
{
	int err = sql_bind(take, "iiii", epoch, (int64_t)kind, stream, n);

	return err ? err : sql_run(take);
}

int tallies_give(sqlite3 *h, enum tally_kind kind, int64_t target, int64_t stream,
		 int64_t n)
{
	const struct flush_stream received = { .received = n };

	return add_tally(h, kind, target, stream, &received, n);
}
