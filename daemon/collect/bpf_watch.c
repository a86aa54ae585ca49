/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_watch.c - reads notices, and judges whether the machine is quiet
 *
 * I1  While the machine is quiet, a CPU sends a notice after COLLECTOR_QUIET_SAMPLES
 *     samples of processes, counted from the last judgement. The number is small, so
 *     that the daemon soon notices a new load. After a short burst the next judgement
 *     finds the machine quiet again.
 * I2  While the machine is busy, no CPU sends such a notice. The daemon then looks at
 *     least once a second, when it draws new periods.
 */
#include "config.h"

#include "daemon/collect/bpf_watch.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/times.h"
#include "daemon/collect/collector.h"

#define QUIET_SHARE  8 /* a CPU that is busy more than 1/8 of the time is not quiet */
#define QUIET_WINDOW NSEC_PER_SEC /* do not judge after a shorter time */

struct bpf_watch {
	const struct bpf_table *table;
	struct ring_buffer *ring;
	uint32_t nr_cpus;
	uint32_t *seen;     /* by CPU: bpf_table_work() at the last judgement */
	uint64_t judged_ns; /* when that was */
	bool quiet, full;
};

static int take_notice(void *ctx, void *data, size_t size)
{
	const struct cpi_bpf_notice *notice = data;
	struct bpf_watch *w = ctx;

	if (size < sizeof(*notice))
		return 0;
	if (notice->kind == CPI_BPF_NOTICE_FULL)
		w->full = true;
	else
		w->quiet = false;
	return 0;
}

int bpf_watch_open(const struct bpf_table *t, uint32_t nr_cpus, int epoll_fd,
		   struct bpf_watch **out)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct bpf_watch *w = calloc(1, sizeof(*w));
	int fd = bpf_table_notices(t), err = 0;

	if (!w)
		return -ENOMEM;
	w->table = t;
	w->nr_cpus = nr_cpus;
	w->judged_ns = time_mono_ns();
	w->seen = calloc(nr_cpus, sizeof(*w->seen));
	w->ring = ring_buffer__new(fd, take_notice, w, NULL);
	ev.data.fd = fd;
	if (!w->seen || !w->ring)
		err = -ENOMEM;
	else if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		err = -errno;
	if (err) {
		bpf_watch_close(w);
		return err;
	}
	*out = w;
	return 0;
}

void bpf_watch_close(struct bpf_watch *w)
{
	if (!w)
		return;
	ring_buffer__free(w->ring);
	free(w->seen);
	free(w);
}

void bpf_watch_take(struct bpf_watch *w)
{
	ring_buffer__consume(w->ring);
}

static void ask_for_notices(const struct bpf_watch *w)
{
	for (uint32_t i = 0; i < w->nr_cpus; i++)
		bpf_table_notify_at(w->table, i,
				    w->seen[i] +
					    (w->quiet ? COLLECTOR_QUIET_SAMPLES : -1));
}

static void judge(struct bpf_watch *w, double hz, uint64_t now)
{
	double expected = hz * (double)(now - w->judged_ns) / NSEC_PER_SEC;
	uint32_t most = 0;

	for (uint32_t i = 0; i < w->nr_cpus; i++) {
		uint32_t n = bpf_table_work(w->table, i);

		if (n - w->seen[i] > most)
			most = n - w->seen[i];
		w->seen[i] = n;
	}
	w->quiet = (double)most * QUIET_SHARE < expected;
	w->judged_ns = now;
	ask_for_notices(w);
}

void bpf_watch_look(struct bpf_watch *w, double hz)
{
	uint64_t now = time_mono_ns();

	for (uint32_t i = 0; i < w->nr_cpus && !w->full; i++)
		w->full = bpf_table_is_full(w->table, i);
	if (now - w->judged_ns >= QUIET_WINDOW)
		judge(w, hz, now);
}

bool bpf_watch_is_full(const struct bpf_watch *w)
{
	return w->full;
}

void bpf_watch_emptied(struct bpf_watch *w)
{
	w->full = false;
}

bool bpf_watch_is_quiet(const struct bpf_watch *w)
{
	return w->quiet;
}
