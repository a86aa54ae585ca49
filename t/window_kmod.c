/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_kmod.c - windows of the kernel module, against what single-stepping shows
 *
 *	window_kmod exact NR [nmi]	NR windows are where the program goes
 *	window_kmod fault NR [nmi]	NR windows end at a page that is not there
 *
 * The event is cpu-clock, or the test module's (t/vm/nmi).
 *
 * The program is a child, which does the very same over and over again: it is stepped
 * through one round of it, and each window is a piece of that, across its end, too.
 * Windows begin where interrupts fall. What comes of them is taken in, and what they
 * were without is given to them, while the child is stopped.
 */
#include "config.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "analysis/windows/codepack.h"
#include "t/vm/programs/kmod.h"
#include "t/window_agrees.h"
#include "t/window_pages.h"

#define HZ          997
#define NR_ENTRIES  8192
#define NR_PAGES    512 /* from cell CPI_CODE_MAX_CELLS on, each with room for all */
#define NR_RECORDS  256
#define MAX_STEPS   200000 /* of a round */
#define ROUND_US    50000
#define MAX_ROUNDS  20000
#define NR_NUMBERS  24
#define TEXT_BYTES  160
#define ABSENT_LOOP 12

struct run {
	struct device device;
	struct cpi_kmod_windows config;
	uint8_t *memory;
	struct window_pages *pages;
	pid_t child;
	uint64_t *pc; /* of a round, and of the begin of the next */
	uint32_t nr_steps;
	uint32_t next_entry;
	unsigned long compared, wrong, instructions, unwalked;
	unsigned long nr_by_end[CPI_NR_WINDOW_ENDS];
};

/* ---- what the child does ---- */

static volatile unsigned int sink;

static int compare_numbers(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Library code and jumps that data decide, without a system call. */
static __attribute__((noinline)) void go_round(void)
{
	int number[NR_NUMBERS];
	char text[TEXT_BYTES];
	uint32_t random = 1;
	size_t at = 0;

	for (int i = 0; i < NR_NUMBERS; i++) {
		random = random * 1664525 + 1013904223;
		number[i] = (int)(random >> 20);
	}
	qsort(number, NR_NUMBERS, sizeof(number[0]), compare_numbers);
	for (int i = 0; i < NR_NUMBERS; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d,", number[i]);
	for (const char *s = text; (s = strchr(s, ',')); s++)
		sink += (unsigned int)strtoul(s + 1, NULL, 10) % 7;
	sink += (unsigned int)strlen(text);
	sink += memcmp(text, text + 5, 9) > 0;
}

static volatile char *absent;

/* Reads a page that is not there, from some instructions on before it does. */
static void go_absent(void)
{
	madvise((void *)absent, 4096, MADV_DONTNEED);
	for (volatile int i = 0; i < ABSENT_LOOP; i++)
		;
	sink += (unsigned char)*absent;
}

static __attribute__((noreturn)) void be_child(void (*round)(void))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it has no end of its own */
	absent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	CHECK(absent != MAP_FAILED, "mmap");
	round(); /* finds what the dynamic linker has to find */
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	for (;;)
		round();
}

/* ---- single steps ---- */

static void step(const struct run *r, struct user_regs_struct *regs)
{
	int status;

	CHECK(!ptrace(PTRACE_SINGLESTEP, r->child, 0, 0), "step");
	CHECK(waitpid(r->child, &status, 0) == r->child && WIFSTOPPED(status),
	      "the child is gone");
	CHECK(!ptrace(PTRACE_GETREGS, r->child, 0, regs), "registers");
}

/* Where a function that is about to begin returns to. */
static uint64_t returns_to(const struct run *r, const struct user_regs_struct *regs)
{
	long address;

	errno = 0;
	address = ptrace(PTRACE_PEEKDATA, r->child, (void *)(uintptr_t)regs->rsp, 0);
	CHECK(!errno, "the stack");
	return (uint64_t)address;
}

static void step_to(const struct run *r, uint64_t pc, struct user_regs_struct *regs)
{
	do
		step(r, regs);
	while (regs->rip != pc);
}

/*
 * From its begin to where it begins again and returns to the same place: compilers
 * unroll loops, endless ones too, so that its calls are several.
 */
static void step_round(struct run *r, uint64_t begin)
{
	struct user_regs_struct regs;
	uint64_t back;

	r->pc = calloc(MAX_STEPS + CPI_WINDOW_MAX, sizeof(*r->pc));
	CHECK(r->pc, "memory");
	step_to(r, begin, &regs); /* may be a call of its own, before the loop */
	step_to(r, begin, &regs);
	back = returns_to(r, &regs);
	r->pc[r->nr_steps++] = begin;
	for (;;) {
		step(r, &regs);
		if (regs.rip == begin && returns_to(r, &regs) == back)
			break;
		CHECK(r->nr_steps < MAX_STEPS, "a round has no end");
		if (regs.rip != r->pc[r->nr_steps - 1]) /* no further time of a rep */
			r->pc[r->nr_steps++] = regs.rip;
	}
	for (uint32_t i = 0; i < CPI_WINDOW_MAX; i++)
		r->pc[r->nr_steps + i] = r->pc[i];
}

static void start_child(struct run *r, void (*round)(void))
{
	int status;

	r->child = fork();
	if (!r->child)
		be_child(round);
	CHECK(waitpid(r->child, &status, 0) == r->child && WIFSTOPPED(status), "fork");
	if (round == go_round)
		step_round(r, (uint64_t)(uintptr_t)round);
	r->pages = window_pages_new(r->child, EM_X86_64);
	CHECK(r->pages, "no translation");
}

/* ---- what windows need ---- */

static void set_windows(struct run *r, bool nmi)
{
	struct cpi_kmod_windows *c = &r->config;
	void *at;

	r->device = device_open();
	device_clock(&r->device, HZ);
	c->event = r->device.config.events[0];
	if (nmi) {
		c->event.type = PERF_TYPE_RAW;
		c->event.config = NMI_CONFIG;
	}
	c->nr_entries = NR_ENTRIES;
	c->nr_cells = (NR_PAGES + 1) * CPI_CODE_MAX_CELLS;
	c->nr_records = NR_RECORDS;
	device_call(&r->device, CPI_KMOD_IOC_WINDOWS, c);
	at = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->device.fd,
		  (off_t)CPI_KMOD_WINDOWS_AT);
	CHECK(at != MAP_FAILED, "cannot map the tables");
	r->memory = at;
	r->next_entry = 1;
}

static struct cpi_window_process *processes(const struct run *r)
{
	return (struct cpi_window_process *)r->memory;
}

static struct cpi_window_process *find_process(const struct run *r)
{
	return &processes(r)[cpi_window_set((uint32_t)r->child) * CPI_WINDOW_WAYS];
}

/* All that it may execute. */
static void set_regions(struct run *r, struct cpi_window_process *p)
{
	uint64_t start, end;
	char path[64], line[512], x;
	uint32_t nr = 0;
	FILE *f;

	for (int i = 0; i < CPI_WINDOW_REGIONS; i++)
		p->start[i] = CPI_WINDOW_NOWHERE;
	snprintf(path, sizeof(path), "/proc/%d/maps", r->child);
	f = fopen(path, "re");
	CHECK(f, "%s", path);
	while (fgets(line, sizeof(line), f) && nr < CPI_WINDOW_REGIONS) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c", &start, &end,
			   &x) != 3 ||
		    x != 'x' || end > CPI_WINDOW_NOWHERE)
			continue;
		CHECK(r->next_entry + (end - start) / CPI_CODE_PAGE <= NR_ENTRIES,
		      "too much code");
		p->start[nr] = start;
		p->region[nr].end = end;
		p->region[nr++].first = r->next_entry;
		r->next_entry += (uint32_t)((end - start) / CPI_CODE_PAGE);
	}
	fclose(f);
}

static void enter(struct run *r, const struct cpi_window_record *record)
{
	struct cpi_window_process *p = find_process(r);

	if (p->tgid)
		return;
	set_regions(r, p);
	p->exec_id = record->exec_id;
	p->started_ns = record->started_ns;
	p->tgid = record->window.tgid;
}

/* The entry of an address, or NULL. */
static struct cpi_window_entry *entry_of(const struct run *r, uint64_t pc)
{
	struct cpi_window_entry *entry =
		(struct cpi_window_entry *)(r->memory + r->config.entries_at);
	const struct cpi_window_process *p = find_process(r);

	for (int i = 0; i < CPI_WINDOW_REGIONS; i++) {
		if (p->start[i] <= pc && pc < p->region[i].end)
			return &entry[p->region[i].first +
				      (pc - p->start[i]) / CPI_CODE_PAGE];
	}
	return NULL;
}

static void translate(const struct run *r, uint64_t pc)
{
	union cpi_code_cell *cells =
		(union cpi_code_cell *)(r->memory + r->config.cells_at);
	const uint64_t address = pc & ~(uint64_t)(CPI_CODE_PAGE - 1);
	struct cpi_window_entry *entry = entry_of(r, pc);
	uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE];
	size_t size = sizeof(code);
	uint32_t ip, base, page;

	if (!entry || window_pages_resolve(r->pages, pc, &ip, &base))
		return;
	page = ip >> WINDOW_PAGES_PLACE_BITS;
	if (page >= NR_PAGES)
		return;
	if (window_pages_read(r->pages, code, size, address)) {
		size = CPI_CODE_PAGE; /* nothing is behind it */
		window_pages_read(r->pages, code, size, address);
	}
	page++;
	codepack_page(r->pages->page[page - 1].code, r->pages->page[page - 1].nr_uops,
		      code, size, &cells[page * CPI_CODE_MAX_CELLS]);
	entry->cell = page * CPI_CODE_MAX_CELLS;
}

/* ---- windows ---- */

static bool is_piece(const struct run *r, uint32_t nr, const struct walk *walk)
{
	for (uint32_t i = 0; i < r->nr_steps; i++) {
		if (r->pc[i] == walk->start && window_agrees(r->pc + i, nr, walk))
			return true;
	}
	return false;
}

static void print_wrong(const struct walk *walk)
{
	printf("wrong: from %#" PRIx64 " to %#" PRIx64 ":", walk->start, walk->last);
	for (uint32_t i = 0; i < walk->nr; i++)
		printf(" %" PRIx64 "-%" PRIx64, walk->jump[i].from, walk->jump[i].to);
	printf("\n");
}

static void take(struct run *r, const struct cpi_window_record *record)
{
	const struct cpi_window *w = &record->window;
	struct walk walk;

	if (w->tgid != (uint32_t)r->child || record->process == CPI_WINDOW_PROCESSES ||
	    !w->nr)
		return;
	CHECK(w->end < CPI_NR_WINDOW_ENDS && w->nr <= CPI_WINDOW_MAX, "no window");
	r->nr_by_end[w->end]++;
	if (walk_window(w, window_pages_find, NULL, r->pages, &walk)) {
		r->unwalked++;
		return;
	}
	if (!r->nr_steps)
		return;
	r->compared++;
	if (w->end != CPI_WINDOW_NO_CODE)
		r->instructions += w->nr;
	if (is_piece(r, w->nr, &walk))
		return;
	if (r->wrong++ < 3)
		print_wrong(&walk);
}

/* What a window was without. */
static void learn(struct run *r, const struct cpi_window_record *record)
{
	if (record->window.tgid != (uint32_t)r->child)
		return;
	if (record->process == CPI_WINDOW_PROCESSES)
		enter(r, record);
	else if (record->window.end == CPI_WINDOW_NO_CODE)
		translate(r, record->window.next);
}

static void for_each_record(struct run *r,
			    void (*function)(struct run *r,
					     const struct cpi_window_record *record))
{
	for (uint32_t cpu = 0; cpu < r->config.nr_cpus; cpu++) {
		struct cpi_window_ring *ring =
			(void *)(r->memory + r->config.rings_at +
				 (uint64_t)cpu * r->config.ring_bytes);

		CHECK(ring->head - ring->tail <= NR_RECORDS, "a ring is too full");
		for (uint64_t i = ring->tail; i != ring->head; i++)
			function(r, cpi_window_slot(ring, i, NR_RECORDS,
						    r->config.slot_bytes));
	}
}

static void empty_rings(const struct run *r)
{
	for (uint32_t cpu = 0; cpu < r->config.nr_cpus; cpu++) {
		struct cpi_window_ring *ring =
			(void *)(r->memory + r->config.rings_at +
				 (uint64_t)cpu * r->config.ring_bytes);

		ring->tail = ring->head;
	}
}

static void stop_child(const struct run *r)
{
	int status;

	kill(r->child, SIGSTOP);
	CHECK(waitpid(r->child, &status, WUNTRACED) == r->child && WIFSTOPPED(status),
	      "the child is gone");
}

static void go_on(struct run *r)
{
	kill(r->child, SIGCONT);
	usleep(ROUND_US);
	stop_child(r);
	device_call(&r->device, CPI_KMOD_IOC_FOLLOW, &(uint32_t){ 0 });
	device_call(&r->device, CPI_KMOD_IOC_SYNCHRONIZE, NULL);
	for_each_record(r, take);
	for_each_record(r, learn);
	empty_rings(r);
	device_call(&r->device, CPI_KMOD_IOC_FOLLOW, &(uint32_t){ 1 });
}

static const char *const end_names[CPI_NR_WINDOW_ENDS] = {
#define END_NAME(name, text) [CPI_WINDOW_##name] = text,
	CPI_WINDOW_ENDS(END_NAME)
#undef END_NAME
};

static void report(struct run *r)
{
	struct cpi_kmod_followed f;
	uint64_t sum = 0;

	device_call(&r->device, CPI_KMOD_IOC_FOLLOWED, &f);
	for (int i = 0; i < CPI_WINDOW_NR_DROPS; i++)
		sum += f.counts.dropped[i];
	printf("steps %u compared %lu wrong %lu unwalked %lu received %" PRIu64
	       " recorded %" PRIu64 " dropped %" PRIu64 " ns %" PRIu64 " max %" PRIu64,
	       r->nr_steps, r->compared, r->wrong, r->unwalked, f.counts.received,
	       f.counts.recorded, sum,
	       f.counts.nr_timed ? f.counts.sum_ns / f.counts.nr_timed : 0,
	       f.counts.max_ns);
	for (int i = 0; i < CPI_NR_WINDOW_ENDS; i++) {
		if (r->nr_by_end[i])
			printf(" %s %lu", end_names[i], r->nr_by_end[i]);
	}
	printf("\n");
	CHECK(f.counts.received == f.counts.recorded + sum, "windows are missing");
}

int main(int argc, char **argv)
{
	const bool fault = argc > 2 && !strcmp(argv[1], "fault");
	const unsigned long wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct run r = { 0 };

	if (!wanted || (!fault && strcmp(argv[1], "exact") != 0)) {
		fprintf(stderr, "usage: window_kmod exact|fault NR [nmi]\n");
		return 2;
	}
	start_child(&r, fault ? go_absent : go_round);
	CHECK(!ptrace(PTRACE_DETACH, r.child, 0, (long)SIGSTOP), "detach");
	stop_child(&r);
	set_windows(&r, argc > 3 && !strcmp(argv[3], "nmi"));
	device_call(&r.device, CPI_KMOD_IOC_FOLLOW, &(uint32_t){ 1 });
	for (int i = 0; i < MAX_ROUNDS; i++) {
		if ((fault ? r.nr_by_end[CPI_WINDOW_FAULT]
			   : r.nr_by_end[CPI_WINDOW_LENGTH]) >= wanted)
			break;
		go_on(&r);
	}
	report(&r);
	kill(r.child, SIGKILL);
	CHECK(!r.wrong && !r.unwalked, "windows are wrong");
	return 0;
}
