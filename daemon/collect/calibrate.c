/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibrate.c - measures the cost of a sampling interrupt
 *
 * In a virtual machine the exits around an interrupt cost 10 to 20 times as much as the
 * interrupt on bare metal. No table of machines can know that, so the cost is measured.
 * The thread stays on one CPU and reads the clock as fast as it can. If two readings
 * are far apart, something ran between them. The thread spins for WINDOW_NS with the
 * event and for WINDOW_NS without it. The cost of a sample is the difference of the
 * gaps' sums, divided by the number of samples.
 *
 * Gaps above GAP_MAX_NS are left out: another thread ran in them, and one such gap may
 * be longer than all interrupts of WINDOW_NS. The measurements with and without the
 * event come in the order on, off, off, on, so that a drift of the machine's load
 * affects both alike. The median over the pairs removes single disturbances.
 *
 * While sampling runs, calibrate_sample() needs no event of its own: the gap in which
 * the collector got a sample is the cost of that sample. This includes the collector's
 * handler and table, which are in the caches or not as in normal operation. The thread
 * spins for half a period on average. In this time it would get half a sample on
 * average, but it always gets one, because it waits for it. So the profile shows twice
 * the true time of this spinning.
 */
#include "config.h"

#include "daemon/collect/calibrate.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/times.h"

#define WINDOW_NS  (3 * NSEC_PER_MSEC)
#define GAP_MAX_NS 200000
#define LEAST_NS   500 /* no interrupt takes less */
#define RING_PAGES 16  /* enough for the samples of WINDOW_NS, with all registers */

#define MAX_CPU_SETS 8 /* of 1024 CPUs each */

/* Time between two readings of the clock. */
struct steps {
	uint64_t usual_ns;
	uint64_t gap_min_ns; /* longer steps count as stolen time */
};

struct probe {
	int fd;
	size_t page_size;
	struct perf_event_mmap_page *ring; /* followed by RING_PAGES pages of data */
	struct steps steps;
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* A step counts as a gap if it is longer than five usual steps plus a cache miss. */
static struct steps measure_steps(void)
{
	uint64_t ns[99], last = time_mono_ns(), now, usual;

	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		now = time_mono_ns();
		ns[i] = now - last;
		last = now;
	}
	qsort(ns, sizeof(ns) / sizeof(ns[0]), sizeof(ns[0]), compare_u64);
	usual = ns[sizeof(ns) / sizeof(ns[0]) / 2];
	return (struct steps){ .usual_ns = usual, .gap_min_ns = 5 * usual + 200 };
}

static uint64_t spin(const struct steps *s)
{
	uint64_t begin = time_mono_ns(), last = begin, stolen = 0, now;

	do {
		now = time_mono_ns();
		if (now - last > s->gap_min_ns && now - last < GAP_MAX_NS)
			stolen += now - last - s->usual_ns;
		last = now;
	} while (now - begin < WINDOW_NS);
	return stolen;
}

/* Counts the samples in the ring and empties it. */
static uint64_t take_samples(struct probe *p)
{
	const char *data = (const char *)p->ring + p->page_size;
	size_t size = RING_PAGES * p->page_size;
	/* Both pairs of barriers are those of daemon/os/ring.c. */
	uint64_t head = __atomic_load_n(&p->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = p->ring->data_tail, nr = 0;

	while (tail < head) {
		/* Records are multiples of 8 bytes, so a header never wraps. */
		const struct perf_event_header *h = (const void *)(data + tail % size);

		if (h->size < sizeof(*h) || h->size % sizeof(*h))
			break;
		nr += h->type == PERF_RECORD_SAMPLE;
		tail += h->size;
	}
	__atomic_store_n(&p->ring->data_tail, head, __ATOMIC_RELEASE);
	return nr;
}

static int spin_with_event(struct probe *p, struct calibrate_pair *pair)
{
	if (ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	pair->stolen_on_ns = spin(&p->steps);
	if (ioctl(p->fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return -errno;
	pair->nr_samples = take_samples(p);
	return 0;
}

static int measure_pair(struct probe *p, bool event_first, struct calibrate_pair *pair)
{
	int err = 0;

	if (event_first)
		err = spin_with_event(p, pair);
	pair->stolen_off_ns = spin(&p->steps);
	if (!event_first)
		err = spin_with_event(p, pair);
	return err;
}

static int open_event(struct perf_event_attr *a)
{
	int fd = (int)syscall(SYS_perf_event_open, a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * Opens the event for this thread only, which needs no privilege if users may profile
 * themselves.
 */
static int open_probe(const struct perf_event_attr *attr, struct probe *p)
{
	/*
	 * If 4000 Hz is refused, try 1000: the kernel lowers its limit if interrupts
	 * take long.
	 */
	static const unsigned int hz[] = { 4000, 1000 };
	struct perf_event_attr a = {
		.type = attr ? attr->type : PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = attr ? attr->config : PERF_COUNT_SW_CPU_CLOCK,
		.config1 = attr ? attr->config1 : 0,
		.config2 = attr ? attr->config2 : 0,
		.sample_type = attr ? attr->sample_type : PERF_SAMPLE_IP,
		.sample_regs_intr = attr ? attr->sample_regs_intr : 0,
		.disabled = 1,
		.freq = 1,
	};
	int fd = -EINVAL;

	for (size_t i = 0; fd == -EINVAL && i < sizeof(hz) / sizeof(hz[0]); i++) {
		a.sample_freq = hz[i];
		a.exclude_kernel = 0;
		fd = open_event(&a);
		if (fd == -EACCES || fd == -EPERM) {
			a.exclude_kernel = 1;
			fd = open_event(&a);
		}
	}
	if (fd < 0)
		return fd;
	p->page_size = (size_t)sysconf(_SC_PAGESIZE);
	p->ring = mmap(NULL, (1 + RING_PAGES) * p->page_size, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);
	if (p->ring == MAP_FAILED) {
		int err = -errno;

		close(fd);
		return err;
	}
	p->fd = fd;
	return 0;
}

static void close_probe(struct probe *p)
{
	munmap(p->ring, (1 + RING_PAGES) * p->page_size);
	close(p->fd);
}

static int measure(struct probe *p, double *cost_ns)
{
	struct calibrate_pair pairs[CALIBRATE_PAIRS] = { { 0 } };
	int err;

	p->steps = measure_steps();
	for (int i = 0; i < CALIBRATE_PAIRS; i++) {
		err = measure_pair(p, i % 2 == 0, &pairs[i]);
		if (err)
			return err;
	}
	return calibrate_cost(pairs, CALIBRATE_PAIRS, cost_ns);
}

/*
 * Binds this thread to the current CPU. Returns the CPU's number or -errno; before gets
 * the previous affinity.
 */
static int pin(cpu_set_t before[MAX_CPU_SETS])
{
	cpu_set_t one[MAX_CPU_SETS];
	int cpu = sched_getcpu();

	if (cpu < 0 || sched_getaffinity(0, sizeof(one), before) < 0)
		return -errno;
	memset(one, 0, sizeof(one));
	CPU_SET_S(cpu, sizeof(one), one);
	return sched_setaffinity(0, sizeof(one), one) < 0 ? -errno : cpu;
}

static void unpin(const cpu_set_t before[MAX_CPU_SETS])
{
	sched_setaffinity(0, MAX_CPU_SETS * sizeof(before[0]), before);
}

int calibrate_interrupt(const struct perf_event_attr *attr, double *cost_ns)
{
	cpu_set_t before[MAX_CPU_SETS];
	struct probe p = { .fd = -1 };
	int cpu = pin(before), err;
	double ns = 0;

	if (cpu < 0)
		return cpu;
	err = open_probe(attr, &p);
	if (!err) {
		err = measure(&p, &ns);
		close_probe(&p);
	}
	unpin(before);
	if (!err && ns < LEAST_NS)
		err = -ENODATA; /* others took more time without the event */
	if (!err)
		*cost_ns = ns;
	return err;
}

static int await_sample(const struct calibrate_samples *samples, int cpu,
			uint64_t max_ns, double *cost_ns)
{
	struct steps steps = measure_steps();
	uint64_t seen = samples->nr(samples->ctx, cpu);
	uint64_t begin = time_mono_ns(), last = begin, now = begin, gap, nr;

	for (; now - begin < max_ns; last = now) {
		now = time_mono_ns();
		gap = now - last;
		if (gap <= steps.gap_min_ns)
			continue;
		nr = samples->nr(samples->ctx, cpu);
		if (nr != seen && gap < GAP_MAX_NS) {
			*cost_ns = (double)(gap - steps.usual_ns);
			return 0;
		}
		seen = nr;
		now = time_mono_ns(); /* leave out the time of nr() */
	}
	return -ENODATA;
}

int calibrate_sample(const struct calibrate_samples *samples, uint64_t max_ns,
		     double *cost_ns)
{
	cpu_set_t before[MAX_CPU_SETS];
	int cpu = pin(before), err;

	if (cpu < 0)
		return cpu;
	err = await_sample(samples, cpu, max_ns, cost_ns);
	unpin(before);
	return err;
}

int calibrate_cost(const struct calibrate_pair *pairs, size_t nr, double *cost_ns)
{
	double cost[CALIBRATE_PAIRS];
	size_t n = 0;

	for (size_t i = 0; i < nr && n < CALIBRATE_PAIRS; i++) {
		double stolen =
			(double)pairs[i].stolen_on_ns - (double)pairs[i].stolen_off_ns;

		if (pairs[i].nr_samples)
			cost[n++] = stolen / (double)pairs[i].nr_samples;
	}
	if (!n || 2 * n < nr)
		return -ENODATA;
	qsort(cost, n, sizeof(cost[0]), compare_double);
	/* an even number has two in the middle */
	cost[0] = (cost[(n - 1) / 2] + cost[n / 2]) / 2;
	if (cost[0] <= 0)
		return -ENODATA;
	*cost_ns = cost[0];
	return 0;
}

double calibrate_rate(double budget, double cost_ns)
{
	double hz = budget * (double)NSEC_PER_SEC / cost_ns;

	if (hz > CALIBRATE_MAX_HZ)
		return CALIBRATE_MAX_HZ;
	return hz > CALIBRATE_MIN_HZ ? hz : CALIBRATE_MIN_HZ;
}
