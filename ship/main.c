/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - cpi-ship: ships batches, and waits between them, until a signal
 *
 * After a failure it waits, twice as long each time up to five minutes, minus a
 * random part, so that not all machines connect at once when a store comes back.
 * Meanwhile, and while a store is silent, it tells the service manager that it
 * lives, and writes its metrics. On SIGHUP it gives up the batch that it is sending,
 * reads the options again, and sends that batch again.
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
#include "service/options_publish.h"
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
#define EXIT_WRONG    2 /* wrong options */

struct ship {
	struct ship_options options;
	int argc; /* the command line, which a reload reads again */
	char **argv;
	struct service_published published;
	struct ch_store *store;
	struct shipper *shipper;
	int signals;
	bool end;         /* a signal said so */
	uint64_t wait_ns; /* after failures */
	struct ship_status status;
	struct ship_stats before; /* of former connections; so is sent_before */
	uint64_t sent_before;
	struct metricsfile *metrics; /* NULL: no metrics are written */
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

/* Does what is due however long the rest takes. Called at least every TICK_MS. */
static void tick(void *ctx)
{
	struct ship *s = ctx;

	keepalive_beat(&s->keepalive);
	if (time_mono_ns() >= s->metrics_ns)
		write_metrics(s);
}

/* What was shipped since the start. */
static struct ship_stats total(const struct ship *s)
{
	struct ship_stats sum = s->before;

	if (s->shipper) {
		const struct ship_stats *now = shipper_stats(s->shipper);

		sum.nr_epochs += now->nr_epochs;
		sum.nr_rows += now->nr_rows;
		sum.nr_void += now->nr_void;
		sum.nr_dropped += now->nr_dropped;
	}
	return sum;
}

static uint64_t total_sent(const struct ship *s)
{
	return s->sent_before + (s->store ? ch_store_sent(s->store) : 0);
}

static void disconnect(struct ship *s)
{
	s->before = total(s);
	s->sent_before = total_sent(s);
	shipper_free(s->shipper);
	s->shipper = NULL;
	ch_store_close(s->store);
	s->store = NULL;
}

/* Applies the new options. Options that need a restart keep their values. */
static int take_options(struct ship *s, struct ship_options *now)
{
	struct service_changes changes = { 0 };
	int err = service_options_compare(ship_options_program(), &s->options.settings,
					  &now->settings, &changes);

	if (!err) {
		disconnect(s); /* it has texts of the options that go */
		err = ship_options_take(&s->options, now);
	}
	service_changes_end(&changes, !err);
	return err;
}

/* A wrong configuration changes nothing. 0, or why cpi-ship cannot go on. */
static int reload(struct ship *s)
{
	struct ship_options now;
	int err;

	notify_reloading();
	if (ship_options_read(s->argc, s->argv, &now)) {
		log_err("config: the previous options stay");
		err = 0;
	} else {
		err = take_options(s, &now);
	}
	ship_options_fini(&now);
	if (!err)
		service_publish(&s->published, ship_options_program(),
				&s->options.settings);
	notify_send("READY=1");
	s->wait_ns = 0;
	return err;
}

/* Does what signals ask for. 1 if they asked for a reload, 0 or a negative error. */
static int take_signals(struct ship *s)
{
	int err;

	switch (signals_take(s->signals)) {
	case SIGNALS_END:
		s->end = true;
		return 0;
	case SIGNALS_RELOAD:
		err = reload(s);
		return err ? err : 1;
	default:
		return 0;
	}
}

/* Until the time is over, or a signal comes. 0 or a negative error. */
static int wait_for(struct ship *s, uint64_t ns)
{
	struct pollfd fd = { .fd = s->signals, .events = POLLIN };
	const uint64_t end_ns = time_mono_ns() + ns;
	uint64_t now_ns;
	int result = 0;

	while (!result && !s->end && (now_ns = time_mono_ns()) < end_ns) {
		const uint64_t ms = (end_ns - now_ns) / NSEC_PER_MSEC + 1;

		tick(s);
		poll(&fd, 1, ms < TICK_MS ? (int)ms : TICK_MS);
		result = take_signals(s);
	}
	return result < 0 ? result : 0;
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
	s->shipper =
		shipper_new(s->options.db, &s->options.origin, &s->options.how, store);
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
	const uint64_t least_ns = (uint64_t)((double)cpu_ns * 100 / s->options.percent);

	return least_ns > took_ns ? least_ns - took_ns : 0;
}

/*
 * Ships one batch; *rest_ns is how long to wait before the next one. 0 or a negative
 * error.
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

/* Tells the service manager the status, and writes the metrics. */
static void note_status(struct ship *s, int err, size_t nr)
{
	struct buf text = { 0 };

	s->status.stats = total(s);
	s->status.sent_bytes = total_sent(s);
	ship_status_note(&s->status, err, nr);
	ship_status_say(&s->status, &text);
	notify_send("STATUS=%s", buf_str(&text));
	buf_fini(&text);
	write_metrics(s);
}

static void note_shipped(const struct ship *s, size_t nr)
{
	const struct ship_stats stats = total(s);

	if (nr)
		log_info("ship: %zu epochs; since the start %llu epochs, %llu rows, "
			 "%llu bytes, %llu flushes dropped",
			 nr, (unsigned long long)stats.nr_epochs,
			 (unsigned long long)stats.nr_rows,
			 (unsigned long long)total_sent(s),
			 (unsigned long long)stats.nr_dropped);
}

/* After a failure, which was logged. */
static int wait_longer(struct ship *s)
{
	note_failure(s);
	return wait_for(s, jitter(s->wait_ns));
}

/* Between looks for complete epochs. */
static uint64_t every_ns(const struct ship *s)
{
	return s->options.every_ns ? s->options.every_ns : shipper_every_ns(s->shipper);
}

/* One attempt, and the pause after it. 0; 1: all is shipped; or why cpi-ship ends. */
static int attempt(struct ship *s)
{
	uint64_t rest_ns = 0;
	size_t nr = 0;
	int err = step(s, &nr, &rest_ns), signals = take_signals(s);

	if (signals)
		return signals < 0 ? signals : 0; /* a reload tries at once */
	note_status(s, err, nr);
	if (err)
		return s->options.once ? err : wait_longer(s);
	s->wait_ns = 0;
	note_shipped(s, nr);
	if (!nr && s->options.once)
		return 1;
	return wait_for(s, nr ? rest_ns : jitter(every_ns(s)));
}

static int run(struct ship *s)
{
	int result = 0;

	while (!result && !s->end)
		result = attempt(s);
	return result < 0 ? result : 0;
}

/* Opens what cannot be opened once it is confined, and confines itself. */
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
		limits.folder[0] = dirname(folder);
	}
	service_publish_open(&s->published);
	if (*s->published.folder)
		limits.folder[1] = s->published.folder;
	s->signals = signals_open();
	if (s->signals < 0)
		return s->signals;
	err = confine_self(&limits);
	if (err)
		log_err("confinement: refused: see SystemCallFilter= of the unit, or "
			"the seccomp profile of the container");
	return err;
}

static void tell_ready(struct ship *s)
{
	service_publish(&s->published, ship_options_program(), &s->options.settings);
	notify_send("READY=1");
	keepalive_run(&s->keepalive);
}

static void end(struct ship *s)
{
	disconnect(s);
	metricsfile_close(s->metrics);
	service_publish_close(&s->published);
	ship_options_fini(&s->options);
	if (s->signals >= 0)
		close(s->signals);
}

static int serve(struct ship *s)
{
	int err;

	log_limit_repeats(REPEATS_NS);
	s->status.started_ns = s->status.level_ns = time_real_ns();
	err = prepare(s);
	if (!err) {
		tell_ready(s);
		err = run(s);
	}
	if (err)
		log_err("%s", err_str(err));
	notify_send("STOPPING=1");
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct ship s = {
		.argc = argc, .argv = argv, .signals = -1, .published = { .dir_fd = -1 }
	};
	int code, err;

	log_set_name("cpi-ship");
	err = ship_options_read(argc, argv, &s.options);
	if (err < 0)
		code = EXIT_WRONG;
	else if (err > 0)
		code = EXIT_SUCCESS;
	else if (s.options.check)
		code = service_options_print(ship_options_program(),
					     &s.options.settings)
			       ? EXIT_FAILURE
			       : EXIT_SUCCESS;
	else
		code = serve(&s);
	end(&s);
	return code;
}
