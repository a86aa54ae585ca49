/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_stepped.c - windows of a program, against what single-stepping it shows
 *
 *	window_stepped STEPPER HZ COMMAND [ARGUMENT...]
 *
 * The program of kmod/cpi_window.bpf.c makes windows of the command's threads, and
 * sends the thread that was followed a signal, at which STEPPER (t/stepper.c), which
 * is preloaded there, steps through the very same instructions. Processes and code come
 * as they do in the daemon. The data that windows tell of are compared with those that
 * the instructions touch, decoded from the registers before each step. Prints a line,
 * and before it where windows of full length start; exits with 1 when a
 * window is wrong.
 */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/windows/walk.h"
#include "base/grow.h"
#include "base/hmap.h"
#include "base/times.h"
#include "daemon/collect/bpf_grace.h"
#include "daemon/mappings/procscan.h"
#include "daemon/os/perfev.h"
#include "daemon/windows/windowprocs.h"
#include "t/stepped.h"
#include "t/stepped.skel.h"
#include "t/window_agrees.h"

#define NR_CELLS   (1u << 20)
#define NR_ENTRIES (1u << 16)
#define RING_BYTES (4u << 20)
#define ROUND_NS   (20 * NSEC_PER_MSEC)
#define LATE_NS    NSEC_PER_SEC /* of a signal, which its thread has to run for */

/* A window; nr is 0 where it has no instruction, or was not walked. */
struct seen {
	uint64_t time_ns;
	uint32_t tid;
	uint8_t nr, end;
	struct walk walk;
	uint32_t nr_coded; /* accesses, the first ones, of which the code is known */
	uint8_t code[CPI_WINDOW_DATA][CPI_CODE_MORE];
};

struct run {
	struct stepped_bpf *skel;
	struct ring_buffer *ring;
	struct windowsource source; /* the tables; only synchronize() is called */
	struct bpf_grace *grace;
	struct attribution attribution;
	struct windowpages *pages;
	struct windowprocs *procs;
	struct stepped *stepped;
	pid_t child;
	struct cpi_window_record *record; /* of a round */
	size_t nr_records, cap_records;
	struct seen *seen;
	size_t nr_seen, cap_seen;
	unsigned long nr_by_end[CPI_NR_WINDOW_ENDS], nr_none, unwalked;
};

static const char *const end_names[CPI_NR_WINDOW_ENDS] = {
#define END_NAME(name, text) [CPI_WINDOW_##name] = text,
	CPI_WINDOW_ENDS(END_NAME)
#undef END_NAME
};

static void die(const char *what, int err)
{
	fprintf(stderr, "window_stepped: %s: %s\n", what, strerror(-err));
	exit(2);
}

static void *check_memory(void *memory)
{
	if (!memory)
		die("memory", -ENOMEM);
	return memory;
}

/* ---- setting up ---- */

static void *map_shared(const struct bpf_map *map)
{
	void *at =
		mmap(NULL, (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map),
		     PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		die(bpf_map__name(map), -errno);
	return at;
}

static int take(void *ctx, void *data, size_t size)
{
	struct run *r = ctx;

	r->record = check_memory(
		grow(r->record, r->nr_records, &r->cap_records, sizeof(*r->record)));
	memcpy(&r->record[r->nr_records++], data, sizeof(*r->record));
	return 0;
}

static void load(struct run *r)
{
	int err;

	r->skel = stepped_bpf__open();
	if (!r->skel)
		die("open", -errno);
	bpf_program__set_autoload(r->skel->progs.cpi_window, false);
	bpf_map__set_max_entries(r->skel->maps.cpi_window_cpus,
				 (uint32_t)libbpf_num_possible_cpus());
	bpf_map__set_max_entries(r->skel->maps.cpi_entries, NR_ENTRIES);
	bpf_map__set_max_entries(r->skel->maps.cpi_cells, NR_CELLS);
	bpf_map__set_max_entries(r->skel->maps.cpi_records, RING_BYTES);
	bpf_map__set_max_entries(r->skel->maps.cpi_pairs, 1); /* none is taken */
	bpf_map__set_max_entries(r->skel->maps.cpi_pair_records, RING_BYTES);
	err = stepped_bpf__load(r->skel);
	if (err)
		die("load", err);
	r->source.process = map_shared(r->skel->maps.cpi_processes);
	r->source.entry = map_shared(r->skel->maps.cpi_entries);
	r->source.cell = map_shared(r->skel->maps.cpi_cells);
	r->ring =
		ring_buffer__new(bpf_map__fd(r->skel->maps.cpi_records), take, r, NULL);
	check_memory(r->ring);
}

static int synchronize(const struct windowsource *source)
{
	return bpf_grace_wait(container_of(source, struct run, source)->grace);
}

static void make_tables(struct run *r)
{
	static const struct windowsource_ops ops = { .synchronize = synchronize };
	struct windowpages_config pages = { .source = &r->source };
	struct windowprocs_config procs = { .process = r->source.process };
	struct timed_child *timed_child;
	int err = bpf_grace_open(BPF_GRACE_IPI, (uint32_t)libbpf_num_possible_cpus(),
				 &r->grace);

	if (err)
		die("grace", err);
	err = timed_child_new(&timed_child);
	if (err)
		die("apart", err);
	r->attribution.images = check_memory(images_new(timed_child));
	r->attribution.procmap = check_memory(procmap_new());
	r->attribution.codecache = check_memory(codecache_new(r->attribution.images));
	err = translate_child_open(epoll_create1(EPOLL_CLOEXEC), &pages.translator);
	if (err)
		die("cpi-translate", err);
	pages.codecache = r->attribution.codecache;
	pages.jit = r->attribution.jit = check_memory(jit_new(r->attribution.images));
	r->source.ops = &ops;
	r->source.nr_cells = NR_CELLS;
	r->source.cfg.nr_entries = NR_ENTRIES;
	err = windowpages_new(&pages, &r->pages);
	if (err)
		die("pages", err);
	procs.pages = r->pages;
	procs.attribution = &r->attribution;
	r->procs = check_memory(windowprocs_new(&procs));
}

static void start_command(struct run *r, const char *stepper, char **args)
{
	const int fd = memfd_create("stepped", 0);
	char text[16];

	if (fd < 0 || ftruncate(fd, sizeof(*r->stepped)) < 0)
		die("memfd", -errno);
	r->stepped = mmap(NULL, sizeof(*r->stepped), PROT_READ, MAP_SHARED, fd, 0);
	if (r->stepped == MAP_FAILED)
		die("mmap", -errno);
	snprintf(text, sizeof(text), "%d", fd);
	r->child = fork();
	if (r->child)
		return;
	signal(STEPPED_SIGNAL, SIG_IGN); /* until the stepper is there */
	setenv(STEPPED_FD, text, 1);
	setenv("LD_PRELOAD", stepper, 1);
	execvp(args[0], args);
	die(args[0], -errno);
}

static void attach(const struct run *r, int cpu, unsigned long hz)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = NSEC_PER_SEC / hz };
	const int program = bpf_program__fd(r->skel->progs.cpi_stepped);
	const int fd = perfev_open(&attr, -1, cpu);

	if (fd == -ENODEV)
		return; /* it is offline */
	if (fd < 0)
		die("perf_event_open", fd);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program))
		die("set program", -errno);
}

/* ---- windows ---- */

struct walking {
	const struct run *r;
	const struct cpi_window_process *process;
};

static int code_at(void *ctx, uint64_t address, struct walk_code *out)
{
	const struct walking *w = ctx;
	uint32_t entry, offset;

	if (windowprocs_entry(w->process, address, &entry, &offset))
		return -ENOENT;
	return walk_find_in_packed(windowpages_code(w->r->pages, entry), offset, out);
}

/* The code of the accesses, unless the command has ended by now. */
static void read_code(const struct run *r, struct seen *s)
{
	for (uint32_t i = 0; i < s->walk.nr_accesses; i++) {
		const struct iovec local = { s->code[i], CPI_CODE_MORE };
		const struct iovec remote = { (void *)(uintptr_t)s->walk.access[i].at,
					      CPI_CODE_MORE };

		memset(s->code[i], 0, CPI_CODE_MORE);
		if (process_vm_readv(r->child, &local, 1, &remote, 1, 0) <= 0)
			return;
		s->nr_coded++;
	}
}

static void walk(struct run *r, const struct cpi_window_record *record)
{
	struct walking w = { r, windowprocs_find(r->procs, record) };
	struct seen *s;

	if (record->process == CPI_WINDOW_PROCESSES)
		return;
	r->seen = check_memory(grow(r->seen, r->nr_seen, &r->cap_seen, sizeof(*s)));
	s = &r->seen[r->nr_seen];
	s->time_ns = record->window.time;
	s->tid = record->window.tid;
	s->nr = record->window.nr;
	s->end = record->window.end;
	s->nr_coded = 0;
	r->nr_seen++;
	if (!s->nr) {
		r->nr_none++;
	} else if (!w.process ||
		   walk_window(&record->window, code_at, NULL, &w, &s->walk)) {
		r->unwalked++;
		s->nr = 0;
	} else {
		r->nr_by_end[s->end]++;
		read_code(r, s);
	}
}

static void go_round(struct run *r)
{
	ring_buffer__consume(r->ring);
	for (size_t i = 0; i < r->nr_records; i++)
		walk(r, &r->record[i]);
	windowpages_give_room(r->pages);
	procscan_one(r->attribution.procmap, r->attribution.images, r->child);
	windowprocs_renew(r->procs);
	windowprocs_follow_maps(r->procs);
	for (size_t i = 0; i < r->nr_records; i++) {
		const struct cpi_window_record *record = &r->record[i];

		if (record->window.tgid != (uint32_t)r->child)
			continue;
		if (record->process == CPI_WINDOW_PROCESSES)
			windowprocs_enter(r->procs, record);
		else if (record->window.end == CPI_WINDOW_NO_CODE ||
			 record->window.end == CPI_WINDOW_CHANGED)
			windowprocs_miss(r->procs, record, record->window.next);
	}
	r->nr_records = 0;
	windowpages_run(r->pages);
	windowpages_take_room(r->pages);
}

static int run_command(struct run *r)
{
	const struct timespec round = { .tv_nsec = ROUND_NS };
	int status;

	while (waitpid(r->child, &status, WNOHANG) == 0) {
		go_round(r);
		nanosleep(&round, NULL);
	}
	go_round(r);
	return status;
}

/* ---- truth ---- */

/* The newest window of the thread before a trace; it began where the trace does. */
static const struct seen *find_window(const struct run *r,
				      const struct stepped_trace *t)
{
	const struct seen *found = NULL;

	for (size_t i = 0; i < r->nr_seen; i++) {
		const struct seen *s = &r->seen[i];

		if (s->tid == t->tid && s->time_ns < t->time_ns &&
		    s->time_ns + LATE_NS > t->time_ns &&
		    (!found || s->time_ns > found->time_ns))
			found = s;
	}
	return found && found->nr && found->walk.start == t->pc[0] ? found : NULL;
}

static void print_wrong(const struct stepped_trace *t, const struct seen *s)
{
	printf("\n# wrong: from %#lx, %u instructions, end %s, stepped %lu us later\n# "
	       "stepped:",
	       s->walk.start, s->nr, end_names[s->end],
	       (t->time_ns - s->time_ns) / 1000);
	for (uint32_t i = 0; i < s->nr && i < t->nr; i++)
		printf(" %lx", t->pc[i]);
	printf("\n# jumps:");
	for (uint32_t i = 0; i < s->walk.nr; i++)
		printf(" %lx-%lx", s->walk.jump[i].from, s->walk.jump[i].to);
	printf("\n");
}

struct data_counts {
	unsigned long nr, unknown, wrong, left_out;
};

static bool has_address(const struct stepped_trace *t, const struct seen *s,
			uint32_t step, uint32_t access)
{
	uint64_t address[DATA_TRUTH_MOST];
	const int nr = data_truth(s->code[access], CPI_CODE_MORE, t->pc[step],
				  &t->regs[step], address);

	for (int i = 0; i < nr; i++)
		if ((uint32_t)address[i] == s->walk.access[access].data)
			return true;
	return false;
}

/* Compares each word with the step of its instruction, in their order. */
static void compare_data(const struct stepped_trace *t, const struct seen *s,
			 struct data_counts *c)
{
	uint32_t step = 0;

	c->left_out += s->walk.nr_left_out;
	for (uint32_t i = 0; i < s->nr_coded; i++, step++) {
		const struct walk_access *a = &s->walk.access[i];

		while (step < s->nr && t->pc[step] != a->at)
			step++;
		c->nr++;
		if (a->data == CPI_WINDOW_NO_DATA && step < s->nr) {
			c->unknown++;
		} else if (step == s->nr || !has_address(t, s, step, i)) {
			if (c->wrong++ < 3)
				printf("\n# wrong data: %#lx: %#x, access %u of the "
				       "window\n",
				       a->at, a->data, i);
		}
	}
}

static void print_full(const struct run *r)
{
	for (size_t i = 0; i < r->nr_seen; i++) {
		if (r->seen[i].nr && r->seen[i].end == CPI_WINDOW_LENGTH)
			printf("\nfull: %#lx", r->seen[i].walk.start);
	}
}

static int compare(const struct run *r, const char *name)
{
	unsigned long exact = 0, wrong = 0, cut = 0, sum = 0, nr_told = 0;
	struct data_counts data = { 0 };
	const uint32_t nr = r->stepped->nr < STEPPED_MAX ? r->stepped->nr : STEPPED_MAX;

	for (uint32_t i = 0; i < nr; i++) {
		const struct stepped_trace *t = &r->stepped->trace[i];
		const struct seen *s = t->nr ? find_window(r, t) : NULL;

		if (!s)
			continue;
		if (t->nr < s->nr) { /* the command ended, or blocks the signal */
			cut++;
			continue;
		}
		if (s->end != CPI_WINDOW_NO_CODE) { /* which it gets by then */
			sum += s->nr;
			nr_told++;
		}
		if (window_agrees(t->pc, s->nr, &s->walk)) {
			exact++;
			compare_data(t, s, &data);
			continue;
		}
		if (wrong++ < 3)
			print_wrong(t, s);
	}
	print_full(r);
	printf("\n%s: compared %lu wrong %lu cut %lu windows %zu unwalked %lu reach "
	       "%.1f data %lu data-wrong %lu data-unknown %lu data-left-out %lu",
	       name, exact + wrong, wrong, cut, r->nr_seen - r->nr_none - r->unwalked,
	       r->unwalked, nr_told ? (double)sum / (double)nr_told : 0, data.nr,
	       data.wrong, data.unknown, data.left_out);
	for (int i = 0; i < CPI_NR_WINDOW_ENDS; i++) {
		if (r->nr_by_end[i])
			printf(" %s %lu", end_names[i], r->nr_by_end[i]);
	}
	printf("\n");
	return wrong != 0 || data.wrong != 0;
}

int main(int argc, char **argv)
{
	struct run r = { 0 };
	int status;

	if (argc < 4) {
		fprintf(stderr, "usage: window_stepped STEPPER HZ COMMAND...\n");
		return 2;
	}
	load(&r);
	make_tables(&r);
	start_command(&r, argv[1], argv + 3);
	for (int i = 0; i < libbpf_num_possible_cpus(); i++)
		attach(&r, i, strtoul(argv[2], NULL, 10));
	status = run_command(&r);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		fprintf(stderr, "window_stepped: %s: ended with %#x\n", argv[3],
			status);
	return compare(&r, argv[3]);
}
