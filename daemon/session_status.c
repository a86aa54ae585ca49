/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_status.c - what a session says of itself; cpid(8) lists the names
 */
#include "config.h"

#include "base/err.h"
#include "base/times.h"
#include "daemon/session_private.h"

static uint64_t nr_lost(const struct session *s, int e, enum loss l,
			const struct collector_counts *now)
{
	uint64_t n = s->lost[e][l] + s->attribution.tally->loss[e][l];

	if (l == SAMPLE_RING_LOST)
		n += now->ring_lost - s->ring_lost[e];
	else if (l == SAMPLE_TABLE_LOST)
		n += now->table_lost - s->table_lost[e];
	return n;
}

static void put_stream(struct session *s, int e, struct buf *out)
{
	struct collector_counts now;
	const char *name = s->events[e].name;

	s->ops->counts(s->collector, e, &now);
	buf_printf(out, "event.%d %s\n", e, name);
	buf_printf(out, "period.%s %llu\n", name, (unsigned long long)s->periods[e]);
	buf_printf(out, "received.%s %llu\n", name, (unsigned long long)now.received);
	buf_printf(out, "stored.%s %llu\n", name,
		   (unsigned long long)(s->stored[e] -
					outbox_nr_samples(s->outbox, e)));
	buf_printf(out, "not_delivered.%s %lld\n", name,
		   (long long)(s->not_delivered[e] +
			       session_not_delivered(s, e, &now)));
	if (now.elsewhere)
		buf_printf(out, "elsewhere.%s %llu\n", name,
			   (unsigned long long)now.elsewhere);
	for (int l = 0; l < NR_LOSSES; l++) {
		uint64_t n = nr_lost(s, e, l, &now);

		if (n)
			buf_printf(out, "%s.%s %llu\n",
				   loss_class_of(l) == LOSS_UNKNOWN ? "unknown"
								    : "lost",
				   loss_name(l), (unsigned long long)n);
	}
}

static void put_database(struct session *s, struct buf *out)
{
	uint64_t file = 0, wal = 0;
	char text[TIME_TEXT_SIZE];

	db_size(s->db, &file, &wal);
	buf_printf(out, "db %s\n", s->cfg.db_path);
	buf_printf(out, "db_bytes %llu\n", (unsigned long long)(file + wal));
	if (s->last_flush_real_ns)
		buf_printf(out, "last_flush %s\n",
			   time_format(s->last_flush_real_ns, text));
	if (s->store_err)
		buf_printf(out, "store_error %s\n", err_str(s->store_err));
}

void session_status(struct session *s, struct buf *out)
{
	const struct tally *t = s->attribution.tally;

	buf_printf(out, "state %s\n", s->store_err ? "cannot store" : "sampling");
	buf_printf(out, "uptime_s %llu\n",
		   (unsigned long long)((time_mono_ns() - s->begun_ns) / NSEC_PER_SEC));
	put_database(s, out);
	buf_printf(out, "collector %s\n", s->ops->name);
	buf_printf(out, "rate_hz %.1f\n", s->hz);
	buf_printf(out, "budget_percent %g\n", s->cfg.budget * 100);
	if (s->interrupt_ns > 0)
		buf_printf(out, "interrupt_cost_ns %.0f\n", s->interrupt_ns);
	buf_printf(out, "cpus %d\n", s->cpus.nr);
	for (int e = 0; e < s->nr_events; e++)
		put_stream(s, e, out);
	buf_printf(out, "pending_samples %llu\n",
		   (unsigned long long)session_nr_pending(s));
	buf_printf(out, "outcome_unreadable %llu\n",
		   (unsigned long long)(s->unreadable + t->unreadable));
	buf_printf(out, "mapping_records_lost %llu\n",
		   (unsigned long long)sideband_nr_lost(s->sideband));
	buf_printf(out, "processes %zu\n", procmap_nr_processes(s->procmap));
	buf_printf(out, "mappings %zu\n", procmap_nr_ranges(s->procmap));
	buf_printf(out, "images %zu\n", images_nr(s->images));
	buf_printf(out, "memory_bytes %zu\n",
		   tally_memory(t) + outbox_memory(s->outbox));
}
