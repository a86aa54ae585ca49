/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * months.c - runs the daemon's core through months of short processes, in minutes
 *
 *	months FOLDER [DAYS [PROCESSES [EPOCH_S]]]
 *
 * A session (daemon/session/) runs with a clock that this program steps, and with a
 * collector that hands out made batches. In each hour PROCESSES (10,000) processes live
 * for 200 ms; an epoch lasts EPOCH_S (60) seconds. A process is forked, calls exec,
 * maps a program and a library, has samples in both, and exits. Once an hour one of
 * the programs is replaced by another build. Process map, attribution, images, flushes,
 * epochs, roll-up and retention are those of cpid; retention works after each six
 * hours.
 *
 * Prints a line of CSV for each day: memory, descriptors, the size of the database, and
 * how many processes, mappings, images, pages and rows there are. Then it compares the
 * last third of the days with the third before. Exit status 1: something grows, or a
 * sample is not accounted for. The database needs its longest age (AGES) to be full, so
 * DAYS below 3 times that are compared only in what does not depend on it.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/session/session_private.h"
#include "db/core/sql.h"
#include "db/retain/retain.h"

#define SEC     NSEC_PER_SEC
#define HOUR    (3600 * SEC)
#define DAY     (24 * HOUR)
#define PIECE   (60 * SEC) /* between two runs of the session */
#define LIFE_NS (SEC / 5)
#define BEGIN   (1795132800 * SEC) /* 2026-11-20T00:00:00Z */

#define AGES        "minutely:6h,hourly:2d,daily:10d"
#define FULL_DAYS   13 /* after these, the oldest days are removed */
#define NR_PROGRAMS 8
#define NR_COMMANDS 40
#define FIRST_TGID  1000000u /* rarely used: /proc may have such a process, too */
#define NR_TGIDS    3000000u
#define PARENT      (FIRST_TGID - 1)
#define NR_PLACES   3 /* of a process's samples */
#define TEXT        0x400000ULL
#define LIBRARY     0x7f0000000000ULL
#define TEXT_BYTES  0x8000

#define MAX_BUSY 60000 /* waits of a millisecond for the database */
#ifdef SANITIZERS      /* ASan keeps 256 MB of memory that was freed */
#define MORE_KB (256 << 10)
#else
#define MORE_KB 2048
#endif

/* ---- the clock: everything that asks for the time gets this one ---- */

static uint64_t mono_ns = 1000 * DAY, real_ns = BEGIN;

uint64_t __wrap_time_mono_ns(void);

uint64_t __wrap_time_mono_ns(void)
{
	return mono_ns;
}

static uint64_t stepped_mono(const struct clock *c)
{
	(void)c;
	return mono_ns;
}

static uint64_t stepped_real(const struct clock *c)
{
	(void)c;
	return real_ns;
}

static const struct clock stepped = { stepped_mono, stepped_mono, stepped_real };

/* ---- the collector: hands out what was made since the last batch ---- */

struct collector {
	struct collector_owner owner;
	uint64_t from_ns, received;
	struct cpi_entry *entry;
	size_t nr, cap;
};

static struct collector made;

static void made_drain(struct collector *c)
{
	struct batch b = { .from_ns = c->from_ns,
			   .to_ns = mono_ns,
			   .entries = c->entry,
			   .nr = c->nr };

	c->from_ns = mono_ns;
	if (!c->nr)
		return;
	c->nr = 0;
	c->owner.batch(c->owner.ctx, &b);
}

static void made_nothing(struct collector *c)
{
	(void)c;
}

static void made_counts(struct collector *c, int event, struct collector_counts *out)
{
	(void)event;
	*out = (struct collector_counts){ .received = c->received,
					  .pending = c->nr,
					  .event_count = c->received };
}

static int made_set_cpus(struct collector *c, const struct cpus *cpus)
{
	(void)c, (void)cpus;
	return 0;
}

static int made_restart(struct collector *c)
{
	(void)c;
	return 0;
}

static uint64_t made_random_ns(const struct collector *c)
{
	(void)c;
	return DAY;
}

static uint64_t made_progress(const struct collector *c, int cpu)
{
	(void)cpu;
	return c->received;
}

static int made_open(const struct collector_config *cfg, const struct cpus *cpus,
		     struct collector **out, int *event)
{
	(void)cpus, (void)event;
	made.owner = cfg->owner;
	made.from_ns = mono_ns;
	*out = &made;
	return 0;
}

/* Takes the place of the daemon's own. */
const struct collector_ops collector_perf = {
	.name = "perf",
	.open = made_open,
	.source.poll = collector_poll_always,
	.is_quiet = collector_never_quiet,
	.source.snapshot = made_nothing,
	.source.preview = collector_no_preview,
	.source.drain = made_drain,
	.source.sweep = made_nothing,
	.source.randomise = made_nothing,
	.random_ns = made_random_ns,
	.exec_id = collector_no_exec_id,
	.source.counts = made_counts,
	.handler = collector_no_handler,
	.progress = made_progress,
	.device = collector_no_device,
	.pairs = collector_no_pairs,
	.source.set_cpus = made_set_cpus,
	.source.stop = made_nothing,
	.restart = made_restart,
	.source.close = made_nothing,
};

/* ---- the machine ---- */

static struct {
	const char *folder;
	char program[NR_PROGRAMS][4096];
	struct image_source source[NR_PROGRAMS];
	struct session *session;
	uint64_t nr_processes, nr_builds;
	struct buf elf; /* what programs are copies of */
} m;

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

/* Another build: other code, another inode, the same path. */
static void build_program(size_t i)
{
	char name[4200];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "%s.new", m.program[i]);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0)
		err(EXIT_FAILURE, "%s", name);
	m.nr_builds++;
	check(file_write(fd, m.elf.data, m.elf.len), name);
	check(file_write(fd, &m.nr_builds, sizeof(m.nr_builds)), name);
	if (fstat(fd, &st) || close(fd) || rename(name, m.program[i]))
		err(EXIT_FAILURE, "%s", name);
	m.source[i] = (struct image_source){ .device = st.st_dev, .inode = st.st_ino };
}

static void map(uint32_t tgid, uint64_t at, size_t program, uint64_t when)
{
	struct known_image *image =
		images_get(m.session->images, m.program[program], &m.source[program]);
	const struct range r = { .start = at,
				 .end = at + TEXT_BYTES,
				 .bias = -at,
				 .since = when,
				 .value = image };

	if (!image)
		errx(EXIT_FAILURE, "no memory");
	images_meet(m.session->images, image, getpid());
	if (!procmap_skip_map(m.session->procmap, tgid, when))
		procmap_map(m.session->procmap, tgid, &r);
}

static void add_samples(uint32_t tgid, uint64_t pc, uint32_t count)
{
	struct collector *c = &made;

	if (c->nr == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 1024;
		c->entry = realloc(c->entry, c->cap * sizeof(*c->entry));
		if (!c->entry)
			errx(EXIT_FAILURE, "no memory");
	}
	c->entry[c->nr++] =
		(struct cpi_entry){ cpi_entry_word0(pc, 0, CPI_OUTCOME_NONE),
				    cpi_entry_who(tgid, 0) |
					    (uint64_t)count << CPI_COUNT_SHIFT };
	c->received += count;
}

static void live(uint64_t when)
{
	const uint64_t n = m.nr_processes++;
	const uint32_t tgid = FIRST_TGID + n % NR_TGIDS;
	const size_t program = 1 + n % (NR_PROGRAMS - 1);
	struct procmap *pm = m.session->procmap;
	char comm[PROCMAP_COMM_SIZE];

	snprintf(comm, sizeof(comm), "job-%u", (unsigned int)(n % NR_COMMANDS));
	procmap_fork(pm, tgid, PARENT, when);
	procmap_exec(pm, tgid, comm, when + 1000);
	map(tgid, TEXT, program, when + 2000);
	map(tgid, LIBRARY, 0, when + 3000);
	for (uint64_t i = 0; i < NR_PLACES - 1; i++)
		add_samples(tgid, TEXT + 0x1000 + (n * 37 + i * 411) % 256 * 4,
			    1 + n % 3);
	add_samples(tgid, LIBRARY + 0x1000 + n % 64 * 4, 1);
	procmap_exit(pm, tgid, when + LIFE_NS);
}

/* ---- what is looked at ---- */

struct looked {
	uint64_t rss_kb, descriptors, file_kb, processes, ranges, images;
	int64_t epochs, rows, image_rows, pages, free_pages, received, kept;
};

static uint64_t descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t nr = 0;

	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

static uint64_t rss_kb(void)
{
	unsigned long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%lu %lu", &size, &resident) != 2)
		errx(EXIT_FAILURE, "/proc/self/statm cannot be read");
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static int64_t number(struct db *db, const char *sql)
{
	int64_t n = 0;

	check(sql_get(db_handle(db), &n, sql, ""), sql);
	return n;
}

static struct looked look(const char *path)
{
	struct looked l = { .rss_kb = rss_kb(),
			    .descriptors = descriptors(),
			    .processes = procmap_nr_processes(m.session->procmap),
			    .ranges = procmap_nr_ranges(m.session->procmap),
			    .images = images_nr(m.session->images) };
	struct db *db;

	check(db_open(path, DB_READ, &db), path);
	l.epochs = number(db, "SELECT count(*) FROM epoch");
	l.rows = number(db, "SELECT count(*) FROM profile");
	l.image_rows = number(db, "SELECT count(*) FROM image");
	l.pages = number(db, "PRAGMA page_count");
	l.free_pages = number(db, "PRAGMA freelist_count");
	l.file_kb = (uint64_t)(l.pages * number(db, "PRAGMA page_size") / 1024);
	l.received = number(db, "SELECT sum(received) FROM tally");
	l.kept = number(db, "SELECT sum(stored) FROM tally") +
		 number(db, "SELECT coalesce(sum(n), 0) FROM loss");
	db_close(db);
	return l;
}

static void print_day(unsigned int day, const struct looked *l)
{
	printf("%u,%llu,%llu,%llu,%llu,%llu,%llu,%lld,%lld,%lld,%lld,%lld\n", day,
	       (unsigned long long)l->rss_kb, (unsigned long long)l->descriptors,
	       (unsigned long long)l->file_kb, (unsigned long long)l->processes,
	       (unsigned long long)l->ranges, (unsigned long long)l->images,
	       (long long)l->epochs, (long long)l->rows, (long long)l->image_rows,
	       (long long)l->pages, (long long)l->free_pages);
	fflush(stdout);
}

/* Fails if the largest of the last third is more than limit times that before. */
static bool is_flat(const char *what, const struct looked *day, unsigned int nr,
		    size_t offset, double limit, double more)
{
	double before = 0, last = 0;

	for (unsigned int i = nr / 3; i < nr; i++) {
		const double n =
			(double)*(const uint64_t *)((const char *)&day[i] + offset);
		double *max = i < nr - nr / 3 ? &before : &last;

		*max = n > *max ? n : *max;
	}
	fprintf(stderr, "%s: %.0f in the middle third, %.0f in the last: %s\n", what,
		before, last, last <= before * limit + more ? "flat" : "GROWS");
	return last <= before * limit + more;
}

static bool judge(const struct looked *day, unsigned int nr)
{
	const struct looked *end = &day[nr - 1];
	bool good = true;

	good &= is_flat("resident kB", day, nr, offsetof(struct looked, rss_kb), 1.05,
			MORE_KB);
	good &= is_flat("descriptors", day, nr, offsetof(struct looked, descriptors), 1,
			0);
	good &= is_flat("processes", day, nr, offsetof(struct looked, processes), 1.05,
			10);
	good &= is_flat("mappings", day, nr, offsetof(struct looked, ranges), 1.05, 20);
	if (nr / 3 >= FULL_DAYS) {
		good &= is_flat("database kB", day, nr,
				offsetof(struct looked, file_kb), 1.05, 64);
		good &= is_flat("images", day, nr, offsetof(struct looked, images), 1.5,
				64);
	}
	if (end->received != end->kept) {
		fprintf(stderr, "received %lld, stored and lost %lld\n",
			(long long)end->received, (long long)end->kept);
		good = false;
	}
	return good;
}

/* ---- the run ---- */

static void retain_all(struct retain *r)
{
	int err, nr_busy = 0;

	while ((err = retain_step(r, real_ns)) > 0 || err == -EBUSY) {
		if (err < 0 && ++nr_busy > MAX_BUSY)
			break;
		if (err < 0)
			usleep(1000);
	}
	check(err, "retention");
}

static void run_hour(unsigned int nr_processes)
{
	const unsigned int nr_pieces = HOUR / PIECE;

	build_program(1 + m.nr_builds % (NR_PROGRAMS - 1));
	for (unsigned int piece = 0, n = 0; piece < nr_pieces; piece++) {
		const unsigned int until = (unsigned int)((uint64_t)nr_processes *
							  (piece + 1) / nr_pieces);
		const uint64_t begun_ns = mono_ns, first = n;

		/* All of them end before the next run of the session. */
		for (; n < until; n++)
			live(begun_ns + 1 +
			     (PIECE - LIFE_NS - 10000) * (n - first) / (until - first));
		mono_ns += PIECE;
		real_ns += PIECE;
		session_run(m.session);
	}
}

static void begin(const char *db_path, uint64_t epoch_ns)
{
	struct session_config cfg = session_config_default();

	cfg.clock = &stepped;
	cfg.db_path = db_path;
	cfg.epoch_ns = epoch_ns;
	cfg.collector = "perf";
	cfg.events[cfg.nr_events++] = "cpu-clock:u";
	cfg.hz = 100;
	cfg.windows.hz = 0;
	cfg.capture_bytes = 0;
	cfg.target = getpid();
	check(session_open(&cfg, &m.session), "the session");
	check(file_read_all(AT_FDCWD, "/proc/self/exe", 64 << 20, &m.elf),
	      "/proc/self/exe");
	if (m.elf.len > TEXT_BYTES) /* the headers, and some code */
		m.elf.len = TEXT_BYTES;
	procmap_fork(m.session->procmap, PARENT, 1, mono_ns);
	procmap_exec(m.session->procmap, PARENT, "parent", mono_ns);
	for (size_t i = 0; i < NR_PROGRAMS; i++) {
		snprintf(m.program[i], sizeof(m.program[i]), "%s/program-%zu", m.folder,
			 i);
		build_program(i);
	}
}

int main(int argc, char **argv)
{
	const unsigned int nr_days = argc > 2 ? (unsigned int)atoi(argv[2]) : 365;
	const unsigned int nr_processes =
		argc > 3 ? (unsigned int)atoi(argv[3]) : 10000;
	const uint64_t epoch_ns = (argc > 4 ? (uint64_t)atoi(argv[4]) : 60) * SEC;
	struct retain_policy policy;
	struct looked *day = calloc(nr_days, sizeof(*day));
	struct buf why = { 0 };
	struct retain *retain;
	char path[4200];
	struct db *db;
	bool good;

	if (argc < 2 || !nr_days || !nr_processes || !epoch_ns || !day) {
		fprintf(stderr, "usage: months FOLDER [DAYS [PROCESSES [EPOCH_S]]]\n");
		return 2;
	}
	m.folder = argv[1];
	snprintf(path, sizeof(path), "%s/months.db", m.folder);
	begin(path, epoch_ns);
	check(retain_parse(AGES, &policy, &why), buf_str(&why));
	check(db_open(path, DB_WRITE, &db), path);
	check(retain_new(db, &policy, NULL, &retain), "retention");
	printf("day,rss_kb,descriptors,database_kb,processes,mappings,images,epochs,"
	       "profiles,image_rows,pages,free_pages\n");
	for (unsigned int i = 0; i < nr_days; i++) {
		for (unsigned int hour = 1; hour <= 24; hour++) {
			run_hour(nr_processes);
			if (hour % 6 == 0)
				retain_all(retain);
		}
		check(session_flush(m.session), "a flush");
		day[i] = look(path);
		print_day(i + 1, &day[i]);
	}
	good = judge(day, nr_days);
	retain_free(retain);
	db_close(db);
	check(session_close(m.session), "the end");
	free(made.entry);
	free(day);
	buf_fini(&why);
	buf_fini(&m.elf);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
