/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_private.h - what session's own files share
 *
 * session_open.c makes one, session.c runs and closes it, session_status.c
 * tells about it.
 */
#ifndef CPI_DAEMON_SESSION_PRIVATE_H
#define CPI_DAEMON_SESSION_PRIVATE_H

#include "daemon/attribute.h"
#include "daemon/collector.h"
#include "daemon/outbox.h"
#include "daemon/platform.h"
#include "daemon/session.h"
#include "daemon/sideband.h"
#include "db/store.h"

struct session {
	struct session_config cfg;
	struct platform platform;
	struct db *db;
	struct store *store;
	int epoll_fd;

	struct cpus cpus;
	struct images *images;
	struct procmap *procmap;
	struct kernel *kernel;
	struct codecache *codecache;
	struct sideband *sideband;
	struct attribution attribution;
	struct outbox *outbox;

	const struct collector_ops *ops;
	struct collector *collector;
	struct event events[SESSION_MAX_EVENTS];
	uint64_t periods[SESSION_MAX_EVENTS];
	struct collector_counts flushed[SESSION_MAX_EVENTS]; /* at the last flush */
	uint64_t remainder[SESSION_MAX_EVENTS]; /* of the event's count then: less than
						   what a sample stands for */
	uint64_t ring_lost[SESSION_MAX_EVENTS],
		table_lost[SESSION_MAX_EVENTS]; /* noted */
	int nr_events;
	double hz;
	double interrupt_ns; /* 0: not measured */

	uint64_t begun_ns; /* monotonic, as all below but the real ones */
	uint64_t next_sweep_ns, next_flush_ns, next_random_ns, retry_ns;
	uint64_t swept_ns;  /* nothing older is in a table */
	uint64_t mapped_ns; /* mapping events have been read up to then */
	bool gap;           /* ... and some of them were lost */
	bool quiet;         /* the collector was, after the last round */
	uint64_t flush_from_ns, epoch_end_real_ns;
	uint64_t last_flush_real_ns;
	/* since the session was opened, up to the last flush */
	uint64_t stored[SESSION_MAX_EVENTS], lost[SESSION_MAX_EVENTS][NR_LOSSES];
	int64_t not_delivered[SESSION_MAX_EVENTS];
	uint64_t unreadable; /* samples whose outcome could not be told */
	int store_err;       /* of the last attempt */
};

/* Takes hz as the rate, or what the kernel's throttle leaves of it, and its periods. */
void session_take_rate(struct session *s, double hz);

/* Puts the beginning of an epoch into the outbox, and notes when it ends. 0, -ENOMEM.
 */
int session_begin_epoch(struct session *s, uint32_t uncertainty_ms, const char *label);

/*
 * How many samples the event's own count promised since the last flush, and did
 * not give; now is what the collector counts.
 */
int64_t session_not_delivered(const struct session *s, int event,
			      const struct collector_counts *now);

/* What was received and is in memory still: in a table, the tally or the outbox. */
uint64_t session_nr_pending(const struct session *s);

/* Asks the collector for the exec ids of all processes, if it goes by them. */
void session_ask_exec_ids(struct session *s);

/* Reads the mapping events up to now. */
void session_read_mappings(struct session *s);

void session_free(struct session *s);

#endif
