/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - cpi-ship: ships batches, and waits between them, until a signal
 *
 * After a failure it waits, twice as long each time up to five minutes, and a random
 * part of that less: a store that comes back must not meet all machines at once.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/storeschema.h"
#include "service/confine.h"
#include "service/signals.h"
#include "ship/options.h"
#include "ship/ship.h"

#define MAX_WAIT_NS   (300 * NSEC_PER_SEC)
#define FIRST_WAIT_NS NSEC_PER_SEC
#define MAX_MEMORY    (1ULL << 30)
#define REPEATS_NS    (3600 * NSEC_PER_SEC)

struct ship {
	struct ship_options options;
	struct ch_store *store;
	struct shipper *shipper;
	int signals;
	uint64_t wait_ns; /* after failures */
};

/* A random time between half of ns and all of it. */
static uint64_t jitter(uint64_t ns)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = 0;
	return ns / 2 + n % (ns / 2 + 1);
}

/* Returns whether a signal says to end. */
static bool wait_for(struct ship *s, uint64_t ns)
{
	struct pollfd fd = { .fd = s->signals, .events = POLLIN };
	const uint64_t ms = ns / NSEC_PER_MSEC;

	return poll(&fd, 1, ms < INT_MAX ? (int)ms : INT_MAX) > 0;
}

static int connect_store(struct ship *s)
{
	struct ch_store *store;
	int err = ch_store_open(s->options.store, s->signals, &store);

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

int main(int argc, char **argv)
{
	struct text_list dbs = { .nr = 1 };
	const struct confine_limits limits = { .network = true,
					       .memory_bytes = MAX_MEMORY,
					       .dbs = &dbs };
	struct ship s = { .signals = -1 };
	int err;

	log_set_name("cpi-ship");
	err = ship_options_read(argc, argv, &s.options);
	if (err)
		return err > 0 ? EXIT_SUCCESS : 2;
	dbs.item[0] = s.options.db;
	log_limit_repeats(REPEATS_NS);
	s.signals = signals_open();
	err = s.signals < 0 ? s.signals : confine_self(&limits);
	if (!err)
		err = run(&s);
	if (err)
		log_err("%s", err_str(err));
	shipper_free(s.shipper);
	ch_store_close(s.store);
	if (s.signals >= 0)
		close(s.signals);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
