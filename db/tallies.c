/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/tallies.h"

#include <errno.h>
#include <inttypes.h>

#include "base/log.h"
#include "db/intern.h"
#include "db/sql.h"

#define ADD_TALLY(tally)                                                         \
	"INSERT INTO " tally " (epoch, stream, received, stored, not_delivered," \
	" enabled_ns, running_ns, throttled)"                                    \
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE"         \
	" SET received = received + excluded.received,"                          \
	" stored = stored + excluded.stored,"                                    \
	" not_delivered = not_delivered + excluded.not_delivered,"               \
	" enabled_ns = enabled_ns + excluded.enabled_ns,"                        \
	" running_ns = running_ns + excluded.running_ns,"                        \
	" throttled = throttled + excluded.throttled"
#define ADD_LOSS(loss)                                         \
	"INSERT INTO " loss " (epoch, stream, class, name, n)" \
	" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET n = n + excluded.n"
#define TAKE(tally)                                      \
	"UPDATE " tally " SET received = received - ?3," \
	" stored = stored - ?3 WHERE epoch = ?1 AND stream = ?2"

static const struct statements {
	const char *of, *add, *lose, *take;
} statements[] = {
	[TALLIES_SAMPLES] = { "samples", ADD_TALLY("tally"), ADD_LOSS("loss"),
			      TAKE("tally") },
	[TALLIES_STACKS] = { "stacks", ADD_TALLY("stack_tally"), ADD_LOSS("stack_loss"),
			     TAKE("stack_tally") },
	[TALLIES_WINDOWS] = { "windows", ADD_TALLY("window_tally"),
			      ADD_LOSS("window_loss"), TAKE("window_tally") },
};

bool tallies_have(const struct flush_streams *s, int stream)
{
	return stream >= 0 && (size_t)stream < s->nr;
}

static uint64_t lost(const struct flush_streams *s, size_t stream)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nr_losses; i++) {
		if (s->losses[i].stream == (int)stream)
			n += s->losses[i].n;
	}
	return n;
}

int tallies_check(const struct flush_streams *s, enum tallies what,
		  const uint64_t *stored, uint64_t seq, const char *path)
{
	for (size_t i = 0; i < s->nr_losses; i++) {
		if (tallies_have(s, s->losses[i].stream))
			continue;
		log_err("db: %s: flush %" PRIu64
			" loses %s of a stream that it has not",
			path, seq, statements[what].of);
		return -EINVAL;
	}
	for (size_t i = 0; i < s->nr; i++) {
		const struct flush_stream *stream = &s->stream[i];

		if (stream->received == stored[i] + lost(s, i) &&
		    stream->received <= INT64_MAX)
			continue;
		log_err("db: %s: flush %" PRIu64
			": %s of %s do not add up: received %" PRIu64
			", stored %" PRIu64 ", lost %" PRIu64,
			path, seq, statements[what].of, stream->desc.event,
			stream->received, stored[i], lost(s, i));
		return -EINVAL;
	}
	return 0;
}

static int add_tally(sqlite3 *h, enum tallies what, int64_t epoch, int64_t id,
		     const struct flush_stream *s, uint64_t stored)
{
	return sql_do(h, statements[what].add, "iiiiiiii", epoch, id, s->received,
		      stored, s->not_delivered, s->enabled_ns, s->running_ns,
		      s->throttled);
}

int tallies_add(sqlite3 *h, enum tallies what, int64_t epoch,
		const struct flush_streams *s, const uint64_t *stored, int64_t *id)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->nr; i++) {
		err = intern_stream(h, &s->stream[i].desc, &id[i]);
		if (!err)
			err = add_tally(h, what, epoch, id[i], &s->stream[i],
					stored[i]);
	}
	for (size_t i = 0; !err && i < s->nr_losses; i++) {
		const struct flush_loss *l = &s->losses[i];

		if (l->n)
			err = sql_do(h, statements[what].lose, "iiisi", epoch,
				     id[l->stream], (int64_t)l->class, l->name, l->n);
	}
	return err;
}

int tallies_take(sqlite3 *h, enum tallies what, int64_t epoch, int64_t stream,
		 int64_t n)
{
	return sql_do(h, statements[what].take, "iii", epoch, stream, n);
}

int tallies_give(sqlite3 *h, enum tallies what, int64_t target, int64_t stream,
		 int64_t n)
{
	const struct flush_stream received = { .received = n };

	return add_tally(h, what, target, stream, &received, n);
}
