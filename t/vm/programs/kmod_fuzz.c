/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmod_fuzz.c - nonsense for /dev/cpi, with some sense in it
 *
 * usage: kmod_fuzz SECONDS [SEED]
 *
 * Half of the calls are well formed, or nearly: others would not get beyond the
 * first test. Whatever is asked, the kernel must answer; what it hands out must
 * be entries.
 */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <time.h>

#include "kmod.h"

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL % below;
}

/* Now and then, one that is at an edge, or anywhere. */
static uint64_t number(uint64_t sane)
{
	static const uint64_t edges[] = {
		0, 1, 31, 32, 0x7fffffff, 0xffffffff, 0x8000000000000000, UINT64_MAX
	};

	switch (draw(24)) {
	case 0:
		return edges[draw(sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return draw(UINT64_MAX);
	default:
		return sane;
	}
}

static void fill(void *to, size_t size)
{
	uint8_t *bytes = to;

	for (size_t i = 0; i < size; i++)
		bytes[i] = draw(256);
}

static void set_event(struct cpi_kmod_event *e)
{
	*e = (struct cpi_kmod_event){
		.type = number(draw(4) ? PERF_TYPE_SOFTWARE : draw(10)),
		.config = number(draw(8) ? 0 : draw(12)),
		.config1 = number(0),
		.config2 = number(0),
		.flags = number(draw(8) ? 0 : draw(8)),
		.period = number(200000 + draw(1000000)),
		.spread = number(draw(100000)),
	};
}

static void configure(struct device *d)
{
	struct cpi_kmod_config c = {
		.version = number(CPI_KMOD_VERSION),
		.flags = number(draw(4)),
		.nr_events = number(1 + draw(4)),
		.nr_buckets = number(16u << draw(8)),
		.nr_entries = number(draw(2) ? 0 : 16 + draw(1000)),
		.reserved = number(0),
	};

	for (size_t i = 0; i < CPI_MAX_EVENTS; i++)
		set_event(&c.events[i]);
	if (!ioctl(d->fd, CPI_KMOD_IOC_CONFIGURE, &c)) {
		for (int i = 0; i < d->nr_cpus; i++) {
			if (d->pair[i])
				munmap((void *)(uintptr_t)d->pair[i],
				       d->config.pair_bytes);
			d->pair[i] = NULL;
		}
		d->config = c;
	}
}

static void flush(struct device *d)
{
	struct cpi_kmod_flush f = { .cpu = number(draw(d->nr_cpus)),
				    .depth = number(draw(2)),
				    .buffer = number(0),
				    .nr = number(0) };
	const struct cpi_entry *e;

	if (ioctl(d->fd, CPI_KMOD_IOC_FLUSH, &f) || !f.nr)
		return;
	CHECK(f.buffer < 2 && f.nr <= d->config.nr_entries, "buffer %u, %u entries",
	      f.buffer, f.nr);
	e = device_pair(d, f.cpu) + f.buffer * d->config.nr_entries;
	for (uint32_t i = 0; i < f.nr; i++)
		CHECK(cpi_entry_count(&e[i]) &&
			      cpi_entry_event(&e[i]) < d->config.nr_events,
		      "no entry");
}

static void map(struct device *d)
{
	size_t size = number(d->config.pair_bytes) & 0x3fffffff;
	void *more, *at = mmap(NULL, size, draw(4) ? PROT_READ : (int)draw(8),
			       draw(2) ? MAP_SHARED : MAP_PRIVATE, d->fd,
			       (off_t)(number(draw(d->nr_cpus) * d->config.pair_bytes) &
				       0x7ffffffffffff000));

	if (at == MAP_FAILED)
		return;
	mprotect(at, size, draw(8));
	more = mremap(at, size, size * 2, MREMAP_MAYMOVE);
	munmap(more == MAP_FAILED ? at : more, more == MAP_FAILED ? size : size * 2);
}

static void other(struct device *d)
{
	struct cpi_kmod_period p = { .event = number(draw(4)),
				     .reserved = number(0),
				     .period = number(200000 + draw(1000000)),
				     .spread = number(draw(100000)) };
	struct cpi_kmod_counts c = { .event = number(draw(4)) };
	struct cpi_kmod_stats s = { .cpu = number(draw(d->nr_cpus)) };
	char bytes[2048];

	switch (draw(7)) {
	case 0:
		ioctl(d->fd, CPI_KMOD_IOC_PERIOD, &p);
		break;
	case 1:
		ioctl(d->fd, CPI_KMOD_IOC_COUNTS, &c);
		break;
	case 2:
		ioctl(d->fd, CPI_KMOD_IOC_STATS, &s);
		break;
	case 3: /* any number, any argument */
		fill(bytes, sizeof(bytes));
		ioctl(d->fd,
		      _IOC(draw(4), draw(2) ? 0xc7 : draw(256), draw(16), draw(1700)),
		      bytes);
		break;
	case 4:
		ioctl(d->fd, CPI_KMOD_IOC_CONFIGURE,
		      (void *)(uintptr_t)draw(UINT64_MAX));
		break;
	case 5:
		ioctl(d->fd, CPI_KMOD_IOC_FLUSH, (void *)(uintptr_t)draw(UINT64_MAX));
		break;
	case 6:
		(void)!read(d->fd, bytes, sizeof(bytes));
		(void)!write(d->fd, bytes, sizeof(bytes));
		lseek(d->fd, draw(1000), SEEK_SET);
		break;
	}
}

static void set_online(bool online)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);

	if (fd >= 0)
		(void)!write(fd, online ? "1" : "0", 1);
	close(fd);
}

static void reopen(struct device *d)
{
	int nr_cpus = d->nr_cpus;

	close(d->fd);
	for (int i = 0; i < nr_cpus; i++) { /* the last of them frees the device */
		if (d->pair[i])
			munmap((void *)(uintptr_t)d->pair[i], d->config.pair_bytes);
	}
	*d = (struct device){ .fd = open(CPI_KMOD_DEVICE, O_RDONLY | O_CLOEXEC),
			      .nr_cpus = nr_cpus };
	CHECK(d->fd >= 0, "open");
}

static void step(struct device *d)
{
	uint64_t n = draw(1000);

	if (n < 100)
		configure(d);
	else if (n < 250)
		ioctl(d->fd, draw(3) ? CPI_KMOD_IOC_START : CPI_KMOD_IOC_STOP);
	else if (n < 600)
		flush(d);
	else if (n < 700)
		map(d);
	else if (n < 990)
		other(d);
	else if (n < 996)
		reopen(d);
	else
		set_online(draw(2));
}

int main(int argc, char **argv)
{
	struct device d = device_open();
	unsigned long calls = 0;
	time_t end;

	if (argc < 2)
		return 2;
	state = argc > 2 && *argv[2] ? strtoull(argv[2], NULL, 0)
				     : (uint64_t)time(NULL);
	printf("seed %" PRIu64 "\n", state);
	fflush(stdout);
	state |= 1;
	for (end = time(NULL) + atoi(argv[1]); time(NULL) < end; calls++)
		step(&d);
	set_online(true);
	printf("%lu calls\n", calls);
	return 0;
}
