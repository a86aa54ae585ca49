/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - cpi-ship: ships batches, and waits between them, until a signal
 *
 * After a failure it waits, twice as long each time up to five minutes, and a random
 * part of that less: a store that comes back must not meet all machines at once.
 * Meanwhile, and while a store is silent, it tells the service manager that it lives,
 * and writes its metrics.
 */
#include "config.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/storeschema.h"
#include "service/confine.h"
#include "service/keepalive.h"
#include "service/metricsfile.h"
#include "service/notify.h"
#include "service/signals.h"
#include "ship/options.h"
#include "ship/ship.h"
#include "ship/status.h"

#define MAX_WAIT_NS   (300 * NSEC_PER_SEC)
#define FIRST_WAIT_NS NSEC_PER_SEC
#define MAX_MEMORY    (1ULL << 30)
#define REPEATS_NS    (3600 * NSEC_PER_SEC)
#define TICK_MS       5000
#define METRICS_NS    (15 * NSEC_PER_SEC)

struct ship {
	struct ship_options options;
	struct ch_store *store;
	struct shipper *shipper;
	int signals;
	uint64_t wait_ns; /* after failures */
	struct ship_status status;
	struct metricsfile *metrics; /* NULL: nobody wants them */
	uint64_t metrics_ns;         /* when they are due */
	struct keepalive keepalive;
};

/* A random time between half of ns and all of it. */
static uint64_t jitter(uint64_t ns)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = 0;
	return ns / 2 + n % (ns / 2 + 1);
}

static void write_metrics(struct ship *s)
{
	struct buf text = { 0 };

	if (!s->metrics)
		return;
	if (!ship_status_metrics(&s->status, &text))
		metricsfile_write(s->metrics, &text);
	buf_fini(&text);
	s->metrics_ns = time_mono_ns() + METRICS_NS;
}

/* What is due however long the rest takes; about once a second. */
static void tick(void *ctx)
{
	struct ship *s = ctx;

	keepalive_beat(&s->keepalive);
	if (time_mono_ns() >= s->metrics_ns)
		write_metrics(s);
}

/* Returns whether a signal says to end. */
static bool wait_for(struct ship *s, uint64_t ns)
{
	struct pollfd fd = { .fd = s->signals, .events = POLLIN };
	const uint64_t end_ns = time_mono_ns() + ns;
	uint64_t now_ns;

	while ((now_ns = time_mono_ns()) < end_ns) {
		const uint64_t ms = (end_ns - now_ns) / NSEC_PER_MSEC + 1;

		tick(s);
		if (poll(&fd, 1, ms < TICK_MS ? (int)ms : TICK_MS) > 0)
			return true;
	}
	return poll(&fd, 1, 0) > 0;
}

static int connect_store(struct ship *s)
{
	const struct ch_store_wait wait = { s->signals, tick, s };
	struct ch_store *store;
	int err = ch_store_open(s->options.store, &wait, &store);

	if (err)
		return err;
	err = storeschema_check(store);
	if (err) {
		ch_store_close(store);
		return err;
	}
	ch_store_limit(store, s->options.rate);
	s->shipper = shipper_new(s->options.db, &s->options.origin, store);
	if (!s->shipper) {
		ch_store_close(store);
		return -ENOMEM;
	}
	s->store = store;
	return 0;
}

/* Rests so that its own CPU time stays within the budget. */
static uint64_t rest_after(const struct ship *s, uint64_t cpu_ns, uint64_t took_ns)
{
	const uint64_t least_ns = (uint64_t)((double)cpu_ns * 100 / s->options.budget);

	return least_ns > took_ns ? least_ns - took_ns : 0;
}

/* Ships one batch. Returns how long to wait before the next one, or a negative error.
 */
static int step(struct ship *s, size_t *nr, uint64_t *rest_ns)
{
	const uint64_t begun_ns = time_mono_ns();
	const uint64_t cpu_ns = time_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int err = s->shipper ? 0 : connect_store(s);

	if (!err)
		err = shipper_step(s->shipper, nr);
	if (!err)
		*rest_ns =
			rest_after(s, time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns,
				   time_mono_ns() - begun_ns);
	return err;
}

static void note_failure(struct ship *s)
{
	s->wait_ns = s->wait_ns ? s->wait_ns * 2 : FIRST_WAIT_NS;
	if (s->wait_ns > MAX_WAIT_NS)
		s->wait_ns = MAX_WAIT_NS;
}

/* For those who watch it. */
static void note_status(struct ship *s, int err, size_t nr)
{
	struct buf text = { 0 };

	if (s->shipper) {
		s->status.stats = *shipper_stats(s->shipper);
		s->status.sent_bytes = ch_store_sent(s->store);
	}
	ship_status_note(&s->status, err, nr);
	ship_status_say(&s->status, &text);
	notify_send("STATUS=%s", buf_str(&text));
	buf_fini(&text);
	write_metrics(s);
}

static void note_shipped(const struct ship *s, size_t nr)
{
	const struct ship_stats *stats = shipper_stats(s->shipper);

	if (nr)
		log_info("ship: %zu epochs; since the start %llu epochs, %llu rows, "
			 "%llu bytes, %llu flushes dropped",
			 nr, (unsigned long long)stats->nr_epochs,
			 (unsigned long long)stats->nr_rows,
			 (unsigned long long)ch_store_sent(s->store),
			 (unsigned long long)stats->nr_dropped);
}

static int run(struct ship *s)
{
	uint64_t rest_ns = 0;
	size_t nr = 0;
	bool end = false;
	int err = 0;

	while (!end) {
		err = step(s, &nr, &rest_ns);
		note_status(s, err, nr);
		if (err) {
			if (s->options.once)
				break;
			note_failure(s);
			end = wait_for(s, jitter(s->wait_ns));
			err = 0; /* it was said, and it tries again */
			continue;
		}
		s->wait_ns = 0;
		note_shipped(s, nr);
		if (!nr && s->options.once)
			break;
		end = wait_for(s, nr ? rest_ns : jitter(s->options.every_ns));
	}
	return err;
}

/* Opens what the confinement takes away, and confines itself. */
static int prepare(struct ship *s)
{
	struct text_list dbs = { .item = { s->options.db }, .nr = 1 };
	struct confine_limits limits = { .network = true,
					 .memory_bytes = MAX_MEMORY,
					 .dbs = &dbs };
	char folder[PATH_MAX];
	int err;

	if (s->options.metrics) {
		err = metricsfile_open(s->options.metrics, &s->metrics);
		if (err)
			return err;
		snprintf(folder, sizeof(folder), "%s", s->options.metrics);
		limits.folder = dirname(folder);
	}
	s->signals = signals_open();
	return s->signals < 0 ? s->signals : confine_self(&limits);
}

static void tell_ready(struct ship *s)
{
	notify_send("READY=1");
	keepalive_run(&s->keepalive);
}

int main(int argc, char **argv)
{
	struct ship s = { .signals = -1 };
	int err;

	log_set_name("cpi-ship");
	err = ship_options_read(argc, argv, &s.options);
	if (err) {
		ship_options_fini(&s.options);
		return err > 0 ? EXIT_SUCCESS : 2;
	}
	log_limit_repeats(REPEATS_NS);
	s.status.started_ns = s.status.level_ns = time_real_ns();
	err = prepare(&s);
	if (!err) {
		tell_ready(&s);
		err = run(&s);
	}
	if (err)
		log_err("%s", err_str(err));
	notify_send("STOPPING=1");
	shipper_free(s.shipper);
	ch_store_close(s.store);
	metricsfile_close(s.metrics);
	ship_options_fini(&s.options);
	if (s.signals >= 0)
		close(s.signals);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
