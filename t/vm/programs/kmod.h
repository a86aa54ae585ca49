/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmod.h - /dev/cpi for the case programs: every failure ends the program
 */
#ifndef CPI_T_VM_KMOD_H
#define CPI_T_VM_KMOD_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/kmod.h"

#define MAX_CPUS   8
#define NMI_CONFIG 0x4e4d49 /* of the test module's event (t/vm/nmi) */

#define FAIL(...)                                           \
	do {                                                \
		printf("%s:%d: ", __FILE_NAME__, __LINE__); \
		printf(__VA_ARGS__);                        \
		printf(" (%s)\n", strerror(errno));         \
		exit(1);                                    \
	} while (0)

#define CHECK(condition, ...)              \
	do {                               \
		if (!(condition))          \
			FAIL(__VA_ARGS__); \
	} while (0)

#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

typedef void take_fn(void *ctx, unsigned int cpu, const struct cpi_entry *e);

struct device {
	int fd;
	int nr_cpus;
	struct cpi_kmod_config config;
	const struct cpi_entry *pair[MAX_CPUS];
	uint64_t read; /* samples that flushes handed out */
};

static inline struct device device_open(void)
{
	struct device d = { .fd = open(CPI_KMOD_DEVICE, O_RDWR | O_CLOEXEC) };

	CHECK(d.fd >= 0, "cannot open %s", CPI_KMOD_DEVICE);
	d.nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	CHECK(d.nr_cpus <= MAX_CPUS, "%d CPUs", d.nr_cpus);
	d.config.version = CPI_KMOD_VERSION;
	d.config.nr_events = 1;
	return d;
}

/* cpu-clock, so many samples a second, periods spread by an eighth. */
static inline void device_clock(struct device *d, unsigned int hz)
{
	struct cpi_kmod_event *e = &d->config.events[0];

	e->type = PERF_TYPE_SOFTWARE;
	e->config = PERF_COUNT_SW_CPU_CLOCK;
	e->period = 1000000000 / hz;
	e->spread = e->period / 8;
}

static inline void device_call(struct device *d, unsigned long request, void *arg)
{
	CHECK(!ioctl(d->fd, request, arg), "ioctl %#lx", request);
}

static inline const struct cpi_entry *device_pair(struct device *d, unsigned int cpu)
{
	void *map;

	if (d->pair[cpu])
		return d->pair[cpu];
	map = mmap(NULL, d->config.pair_bytes, PROT_READ, MAP_SHARED, d->fd,
		   (off_t)cpu * d->config.pair_bytes);
	CHECK(map != MAP_FAILED, "cannot map the buffers of CPU %u", cpu);
	d->pair[cpu] = map;
	return map;
}

static inline void device_configure(struct device *d)
{
	device_call(d, CPI_KMOD_IOC_CONFIGURE, &d->config);
}

static inline void device_start(struct device *d)
{
	device_call(d, CPI_KMOD_IOC_START, NULL);
}

static inline void device_stop(struct device *d)
{
	device_call(d, CPI_KMOD_IOC_STOP, NULL);
}

/* One CPU, to the end; take may be NULL. Returns the number of samples. */
static inline uint64_t device_flush_cpu(struct device *d, unsigned int cpu,
					enum cpi_kmod_depth depth, take_fn *take,
					void *ctx)
{
	struct cpi_kmod_flush f = { .cpu = cpu, .depth = depth };
	uint64_t before = d->read;

	for (int round = 0; round < 10000; round++) {
		const struct cpi_entry *e = device_pair(d, cpu);

		device_call(d, CPI_KMOD_IOC_FLUSH, &f);
		if (!f.nr)
			return d->read - before;
		CHECK(f.buffer < 2 && f.nr <= d->config.nr_entries,
		      "buffer %u, %u entries", f.buffer, f.nr);
		e += f.buffer * d->config.nr_entries;
		for (uint32_t i = 0; i < f.nr; i++) {
			CHECK(cpi_entry_count(&e[i]), "an empty entry");
			CHECK(cpi_entry_event(&e[i]) < d->config.nr_events,
			      "an entry of event %u", cpi_entry_event(&e[i]));
			d->read += cpi_entry_count(&e[i]);
			if (take)
				take(ctx, cpu, &e[i]);
		}
	}
	FAIL("a flush of CPU %u has no end", cpu);
}

static inline uint64_t device_flush(struct device *d, enum cpi_kmod_depth depth,
				    take_fn *take, void *ctx)
{
	uint64_t nr = 0;

	for (int cpu = 0; cpu < d->nr_cpus; cpu++)
		nr += device_flush_cpu(d, cpu, depth, take, ctx);
	return nr;
}

static inline struct cpi_kmod_counts device_counts(struct device *d, unsigned int event)
{
	struct cpi_kmod_counts c = { .event = event };

	device_call(d, CPI_KMOD_IOC_COUNTS, &c);
	return c;
}

static inline struct cpi_kmod_stats device_stats(struct device *d, unsigned int cpu)
{
	struct cpi_kmod_stats s = { .cpu = cpu };

	device_call(d, CPI_KMOD_IOC_STATS, &s);
	return s;
}

/* Until the event has been received so often; whatever the machine's speed is. */
static inline void device_await(struct device *d, uint64_t received)
{
	while (device_counts(d, 0).received < received)
		usleep(10000);
}

/* Stops, takes the rest, and compares: not one sample may be missing. */
static inline void device_stop_and_compare(struct device *d, take_fn *take, void *ctx)
{
	uint64_t received = 0, lost = 0;

	device_stop(d);
	device_flush(d, CPI_KMOD_TABLE, take, ctx);
	for (unsigned int e = 0; e < d->config.nr_events; e++) {
		struct cpi_kmod_counts c = device_counts(d, e);

		printf("event %u: received %" PRIu64 ", overflow %" PRIu64
		       ", nested %" PRIu64 ", count %" PRIu64 "\n",
		       e, c.received, c.overflow, c.nested, c.event_count);
		received += c.received;
		lost += c.overflow + c.nested;
	}
	CHECK(received == d->read + lost,
	      "%" PRIu64 " received, %" PRIu64 " read, %" PRIu64 " lost", received,
	      d->read, lost);
}

#endif
