/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector_replay.c - TIP records of a file, as if a core took them now
 *
 * A record becomes an entry for each instruction that shares it, with its part of the
 * sample as a weight; the oldest one's counts the sample, as a core without TIP would
 * have done.
 *
 * I1  Per record: Σ counts = 1, Σ weights = WEIGHT_UNIT.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "daemon/collector.h"

#define BATCH 4096 /* entries; a round ends with one */
#define TGID  1    /* of what ran: there is no process */

struct collector {
	struct collector_config cfg;
	struct collector_counts counts;
	struct cpi_entry entry[BATCH];
	struct entry_weight weight[BATCH];
	size_t nr;
	bool ended;
	int err; /* with which it ended */
};

/* Weights are named after what the record's flags tell. */
_Static_assert((int)CPI_TIP_COMMITS == WEIGHT_EXECUTION &&
		       (int)CPI_TIP_STALLS == WEIGHT_STALL &&
		       (int)CPI_TIP_DRAINED == WEIGHT_FRONT_END &&
		       (int)CPI_TIP_MISPREDICTS == WEIGHT_MISPREDICT &&
		       (int)CPI_TIP_FLUSHES == WEIGHT_FLUSH &&
		       (int)CPI_TIP_EXCEPTS == WEIGHT_EXCEPTION,
	       "a state's number is that of its weight");

static int replay_open(const struct collector_config *cfg, const struct cpus *cpus,
		       struct collector **out, int *event)
{
	struct collector *c = calloc(1, sizeof(*c));

	(void)cpus;
	*event = -1;
	if (!c)
		return -ENOMEM;
	c->cfg = *cfg;
	*out = c;
	return 0;
}

static bool replay_poll(struct collector *c)
{
	return !c->ended;
}

static void replay_snapshot(struct collector *c)
{
	(void)c; /* a file does not grow meanwhile */
}

static void replay_sweep(struct collector *c)
{
	const struct batch batch = { .entries = c->entry,
				     .weights = c->weight,
				     .nr = c->nr };

	if (c->nr)
		c->cfg.owner.batch(c->cfg.owner.ctx, &batch);
	c->nr = 0;
}

/* Entries have no room for others. */
static bool fits(uint64_t pc)
{
	const struct cpi_entry e = { .word0 = cpi_entry_word0(pc, 0, 0) };

	return cpi_entry_pc(&e) == pc;
}

static int take_sample(struct collector *c, const struct cpi_tip_sample *s)
{
	if (c->nr + s->n > BATCH)
		replay_sweep(c);
	for (unsigned int i = 0; i < s->n; i++) {
		const uint64_t count = !i;

		if (!fits(s->address[i]))
			return -CPI_ECORRUPT;
		c->entry[c->nr] = (struct cpi_entry){
			cpi_entry_word0(s->address[i], 0, CPI_OUTCOME_NONE),
			cpi_entry_who(TGID, 0) | count << CPI_COUNT_SHIFT
		};
		/* What 1/n leaves over, beyond 8, is the older ones'. */
		c->weight[c->nr++] =
			(struct entry_weight){ (enum weight)s->state,
					       WEIGHT_UNIT / s->n +
						       (i < WEIGHT_UNIT % s->n) };
	}
	c->counts.received++;
	c->counts.event_count += c->cfg.periods[0];
	return 0;
}

/* A round: so that whoever replays can stop in between. */
static void replay_drain(struct collector *c)
{
	union tipfile_item item;

	for (int i = 0; i < BATCH && !c->ended; i++) {
		const int type = tipfile_next(c->cfg.replay, &item);

		if (type == CPI_TIP_RECORD)
			c->err = take_sample(c, &item.sample);
		else if (type == CPI_TIP_CODE)
			c->err = c->cfg.owner.code(c->cfg.owner.ctx, &item.code);
		else
			c->err = type;
		c->ended = c->err || !type;
	}
}

static void replay_counts(struct collector *c, int event, struct collector_counts *out)
{
	(void)event;
	*out = c->counts;
}

static void replay_stop(struct collector *c)
{
	c->ended = true;
}

static void replay_close(struct collector *c)
{
	free(c);
}

static int replay_ended(const struct collector *c)
{
	return c->err;
}

const struct collector_ops collector_replay = {
	.name = "replay",
	.open = replay_open,
	.poll = replay_poll,
	.snapshot = replay_snapshot,
	.drain = replay_drain,
	.sweep = replay_sweep,
	.counts = replay_counts,
	.stop = replay_stop,
	.close = replay_close,
	.ended = replay_ended,
};
