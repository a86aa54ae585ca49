/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmod_fuzz.c - nonsense for /dev/cpi, with some sense in it
 *
 * usage: kmod_fuzz SECONDS [SEED]
 *
 * Half of the calls are well formed, or nearly: others would not get beyond the
 * first test. Whatever is asked, the kernel must answer; what it hands out must
 * be entries. Windows are made of this process, by micro-ops that are nonsense, from
 * tables that change meanwhile.
 */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <time.h>

#include "kmod.h"

static uint64_t state, windows_seen; /* at once */

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

/* ---- windows ---- */

static struct {
	struct cpi_kmod_windows config;
	uint8_t *memory; /* NULL: not mapped */
} windows;

static void unmap_windows(void)
{
	if (windows.memory)
		munmap(windows.memory, windows.config.bytes);
	windows.memory = NULL;
}

static void configure_windows(struct device *d)
{
	struct cpi_kmod_windows c = {
		.nr_entries = number(1 + draw(64)),
		.nr_cells = number(1 + draw(1u << 14)),
		.nr_records = number(1u << draw(6)),
		.flags = number(draw(2) ? CPI_KMOD_WINDOW_ORIGINS : 0),
		.nr_excluded = number(0),
		.excluded = { number(d->fd) },
	};
	void *at;

	set_event(&c.event);
	if (draw(2))
		ioctl(d->fd, CPI_KMOD_IOC_FOLLOW, &(uint32_t){ 0 });
	if (ioctl(d->fd, CPI_KMOD_IOC_WINDOWS, &c))
		return;
	unmap_windows();
	if (!c.nr_cells)
		return;
	windows.config = c;
	at = mmap(NULL, c.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd,
		  (off_t)CPI_KMOD_WINDOWS_AT);
	CHECK(at != MAP_FAILED, "the tables cannot be mapped");
	windows.memory = at;
}

static struct cpi_window_ring *ring_of(uint32_t cpu)
{
	return (void *)(windows.memory + windows.config.rings_at +
			(uint64_t)cpu * windows.config.ring_bytes);
}

/* This process, as a record of it says, with regions that are all over. */
static void scribble_process(void)
{
	struct cpi_window_ring *ring = ring_of(draw(windows.config.nr_cpus));
	const struct cpi_window_record *r =
		cpi_window_slot(ring, ring->head - 1, windows.config.nr_records,
				windows.config.slot_bytes);
	struct cpi_window_process *p = (struct cpi_window_process *)windows.memory +
				       cpi_window_set(getpid()) * CPI_WINDOW_WAYS +
				       draw(CPI_WINDOW_WAYS);
	const uint64_t near =
		(uintptr_t)&state & ~0xfffffull; /* static: with the code */
	const uint64_t step = draw(8) ? 1u << 16 : 1ull << 43;
	const uint64_t base = step == 1u << 16 ? near - 16 * step : 0;

	p->exec_id = number(r->exec_id);
	p->started_ns = number(r->started_ns);
	p->tgid = number(getpid());
	p->sequence = number(0);
	p->excluded = !draw(16);
	for (uint64_t i = 0; i < CPI_WINDOW_REGIONS; i++) {
		p->start[i] = number(base + i * step);
		p->region[i].end = number(base + (i + 1) * step);
		p->region[i].first = number(draw(windows.config.nr_entries));
	}
}

static void scribble_page(void)
{
	union cpi_code_cell *cell =
		(union cpi_code_cell *)(windows.memory + windows.config.cells_at);
	const uint32_t nr = windows.config.nr_cells;
	union cpi_code_cell *page = cell + draw(nr);

	fill(cell, nr * sizeof(*cell));
	page->head.lines = ~0ull;
	page->head.places = number(1 + draw(CPI_CODE_LINES));
	page->head.bytes = number(1 + draw(nr));
	for (uint32_t i = 0; i < nr && i < 256; i++) {
		union cpi_code_cell *any = cell + draw(nr);

		if (draw(4))
			any->uop.op = number(draw(CPI_NR_UOPS));
		else
			any->line.starts = ~0ull;
	}
}

static void scribble(void)
{
	struct cpi_window_entry *entry;
	struct cpi_window_ring *ring;

	if (!windows.memory)
		return;
	entry = (struct cpi_window_entry *)(windows.memory + windows.config.entries_at);
	ring = ring_of(draw(windows.config.nr_cpus));
	switch (draw(8)) {
	case 0:
		scribble_page();
		break;
	case 1:
		ring->tail = number(ring->head);
		break;
	case 2:
		ring->head = number(ring->head);
		break;
	case 3:
		fill(windows.memory + draw(windows.config.bytes - 64), 64);
		break;
	default:
		scribble_process();
		for (uint32_t i = 0; i < windows.config.nr_entries; i++)
			entry[i].cell = number(draw(windows.config.nr_cells));
		break;
	}
}

/* Has windows made while their tables change. */
static void follow(struct device *d)
{
	struct cpi_kmod_followed f;

	ioctl(d->fd, CPI_KMOD_IOC_FOLLOW, &(uint32_t){ 1 });
	for (int i = 0; i < 32; i++)
		scribble();
	if (!ioctl(d->fd, CPI_KMOD_IOC_FOLLOWED, &f) &&
	    f.counts.nr_timed > windows_seen)
		windows_seen = f.counts.nr_timed;
}

static void ask_for_windows(struct device *d)
{
	switch (draw(8)) {
	case 0:
		configure_windows(d);
		follow(d);
		break;
	case 1:
		ioctl(d->fd, CPI_KMOD_IOC_FOLLOW, &(uint32_t){ number(draw(2)) });
		break;
	case 2:
		ioctl(d->fd, CPI_KMOD_IOC_SYNCHRONIZE);
		break;
	default:
		scribble();
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
	unmap_windows();
	*d = (struct device){ .fd = open(CPI_KMOD_DEVICE, O_RDWR | O_CLOEXEC),
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
	else if (n < 800)
		ask_for_windows(d);
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
	printf("%lu calls, %" PRIu64 " windows\n", calls, windows_seen);
	return 0;
}
