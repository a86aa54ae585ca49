/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmod_check.c - what cpi.ko counts of programs whose behaviour is known
 *
 * usage: kmod_check CHECK [EVENT]
 *
 * EVENT is clock (the default), cycles (a hardware counter) or nmi (the test
 * module's). An emulator takes interrupts between its translated blocks only,
 * so every instruction whose samples are wanted is jumped to.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "kmod.h"

extern const char loop_begin[], loop_end[];
extern const char branch_begin[], branch_flags[], branch_register[], branch_end[];
extern const char many_begin[], many_end[];

/* Global, for linkers mistake local labels in the GOT for each other. */
__asm__(".globl loop_begin, loop_end, branch_begin, branch_flags\n"
	".globl branch_register, branch_end, many_begin, many_end\n");

#ifdef __x86_64__
__asm__(".text\n"
	"loop_begin:	inc %rax\n"
	"		jmp loop_begin\n"
	"loop_end:\n"
	/* branch_flags is taken once in 8 times, branch_register once in 4 */
	"branch_begin:	inc %rax\n"
	"		mov %rax, %rcx\n"
	"		and $3, %rcx\n"
	"		test $7, %al\n"
	"		jmp branch_flags\n"
	"branch_flags:	jz branch_begin\n"
	"		jmp branch_register\n"
	"branch_register: jrcxz branch_begin\n"
	"		jmp branch_begin\n"
	"branch_end:\n"
	"many_begin:	.rept 3000\n"
	"		jmp 1f\n"
	"1:\n"
	"		.endr\n"
	"		jmp many_begin\n"
	"many_end:\n");
#else
__asm__(".text\n"
	"loop_begin:	add x0, x0, #1\n"
	"		b loop_begin\n"
	"loop_end:\n"
	"branch_begin:	add x0, x0, #1\n"
	"		and x1, x0, #3\n"
	"		tst x0, #7\n"
	"		b branch_flags\n"
	"branch_flags:	b.eq branch_begin\n"
	"		b branch_register\n"
	"branch_register: cbz x1, branch_begin\n"
	"		b branch_begin\n"
	"branch_end:\n"
	"many_begin:	.rept 3000\n"
	"		b 1f\n"
	"1:\n"
	"		.endr\n"
	"		b many_begin\n"
	"many_end:\n");
#endif

static pid_t burn(const char *where, int cpu)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork");
	if (!pid) {
		cpu_set_t set;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		CHECK(!sched_setaffinity(0, sizeof(set), &set), "CPU %d", cpu);
		((void (*)(void))(uintptr_t)where)();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void choose_event(struct device *d, const char *name)
{
	struct cpi_kmod_event *e = &d->config.events[0];

	if (!name || !strcmp(name, "clock")) {
		device_clock(d, 2000);
	} else if (!strcmp(name, "cycles")) {
		e->type = PERF_TYPE_HARDWARE;
		e->config = PERF_COUNT_HW_CPU_CYCLES;
		e->period = 500000;
		e->spread = e->period / 8;
	} else {
		e->type = PERF_TYPE_RAW;
		e->config = NMI_CONFIG;
		e->period = 1000000;
	}
}

static struct device begin(const char *event)
{
	struct device d = device_open();

	choose_event(&d, event);
	return d;
}

static bool is_in(const struct cpi_entry *e, const char *from, const char *to)
{
	uint64_t pc = cpi_entry_pc(e);

	return pc >= (uintptr_t)from && pc < (uintptr_t)to;
}

/* ---- pcs: the samples of a loop are the loop's ---- */

struct pcs {
	pid_t pid;
	unsigned int cpu;
	uint64_t inside, outside, elsewhere;
	uint32_t generation;
};

static void take_pcs(void *ctx, unsigned int cpu, const struct cpi_entry *e)
{
	struct pcs *p = ctx;

	if ((pid_t)cpi_entry_tgid(e) != p->pid || cpi_entry_pc(e) >> 63)
		return;
	/* before it was bound to its CPU, it was elsewhere, but not in the loop */
	if (cpu != p->cpu && is_in(e, loop_begin, loop_end))
		p->elsewhere += cpi_entry_count(e);
	else if (is_in(e, loop_begin, loop_end))
		p->inside += cpi_entry_count(e);
	else
		p->outside += cpi_entry_count(e);
	if (p->inside && cpi_entry_generation(e) != p->generation && p->generation)
		FAIL("generations %u and %u of one process", p->generation,
		     cpi_entry_generation(e));
	if (is_in(e, loop_begin, loop_end))
		p->generation = cpi_entry_generation(e);
}

static void check_pcs(const char *event)
{
	struct device d = begin(event);
	struct pcs p = { .pid = burn(loop_begin, 0) };
	uint64_t all;

	device_configure(&d);
	device_start(&d);
	device_await(&d, 2000);
	device_stop_and_compare(&d, take_pcs, &p);
	end(p.pid);
	all = p.inside + p.outside;
	printf("in the loop %" PRIu64 " of %" PRIu64 "\n", p.inside, all);
	CHECK(p.inside >= 200 && p.inside * 100 >= all * 98, "the loop was missed");
	CHECK(!p.elsewhere, "%" PRIu64 " samples on another CPU", p.elsewhere);
}

/* ---- branches: the outcomes of a conditional jump are its outcomes ---- */

struct branches {
	pid_t pid;
	uint64_t flags[4], reg[4], others[4]; /* by outcome */
};

static void take_branches(void *ctx, unsigned int cpu, const struct cpi_entry *e)
{
	struct branches *b = ctx;
	uint64_t *by_outcome = b->others;

	(void)cpu;
	if ((pid_t)cpi_entry_tgid(e) != b->pid || !is_in(e, branch_begin, branch_end))
		return;
	if (cpi_entry_pc(e) == (uintptr_t)branch_flags)
		by_outcome = b->flags;
	else if (cpi_entry_pc(e) == (uintptr_t)branch_register)
		by_outcome = b->reg;
	by_outcome[cpi_entry_outcome(e)] += cpi_entry_count(e);
}

/* n of the samples at a jump, its share being known, within 5 sigma. */
static void check_share(const char *name, const uint64_t *by_outcome, double share)
{
	double taken = by_outcome[CPI_OUTCOME_TAKEN];
	double all = taken + by_outcome[CPI_OUTCOME_NOT_TAKEN];
	double variance = share * (1 - share) * all;
	double off = taken - share * all;

	printf("%s: taken %.0f of %.0f\n", name, taken, all);
	CHECK(all >= 50, "too few samples at %s", name);
	CHECK(off * off < 25 * variance + 1, "%s: not %g of them", name, share);
	CHECK(!by_outcome[CPI_OUTCOME_NONE] && !by_outcome[CPI_OUTCOME_UNREADABLE],
	      "%s: samples without an outcome", name);
}

static void check_branches(const char *event)
{
	struct device d = begin(event);
	struct branches b = { .pid = burn(branch_begin, 0) };

	d.config.flags = CPI_KMOD_OUTCOME;
	device_configure(&d);
	device_start(&d);
	device_await(&d, 4000);
	device_stop_and_compare(&d, take_branches, &b);
	end(b.pid);
	check_share("branch_flags", b.flags, 1.0 / 8);
	/* reached 7 times in 8; taken in one of those, at 4 of 8 */
	check_share("branch_register", b.reg, 1.0 / 7);
	CHECK(!b.others[CPI_OUTCOME_TAKEN] && !b.others[CPI_OUTCOME_NOT_TAKEN],
	      "outcomes where no conditional jump is");
}

/* ---- cpus: each has the samples of what ran on it ---- */

struct cpus {
	pid_t pid[2];
	uint64_t own[2], others[2];
};

static void take_cpus(void *ctx, unsigned int cpu, const struct cpi_entry *e)
{
	struct cpus *c = ctx;
	pid_t tgid = cpi_entry_tgid(e);

	if (cpu > 1 || cpi_entry_pc(e) >> 63)
		return;
	if (tgid == c->pid[cpu])
		c->own[cpu] += cpi_entry_count(e);
	else if (tgid == c->pid[cpu ^ 1])
		c->others[cpu] += cpi_entry_count(e);
}

static void check_cpus(const char *event)
{
	struct device d = begin(event);
	struct cpus c = { { burn(loop_begin, 0), burn(many_begin, 1) }, { 0 }, { 0 } };

	device_configure(&d);
	device_start(&d);
	device_await(&d, 3000);
	device_stop_and_compare(&d, take_cpus, &c);
	for (int i = 0; i < 2; i++) {
		end(c.pid[i]);
		printf("CPU %d: %" PRIu64 " samples of its own\n", i, c.own[i]);
		CHECK(c.own[i] > 300, "CPU %d has few samples", i);
		/* before it was bound to its CPU, a child may have been elsewhere */
		CHECK(c.others[i] < 20, "CPU %d has %" PRIu64 " of the other's", i,
		      c.others[i]);
	}
}

/* ---- flush: everything at once, and not one sample is missing ---- */

static void check_flush(const char *event)
{
	struct device d = begin(event);
	pid_t pid[2] = { burn(many_begin, 0), burn(many_begin, 1) };
	uint64_t evictions = 0, received, swept = 0, half = 2000;

	if (!event || !strcmp(event, "clock")) {
		device_clock(&d, 8000);
		half = 5000;
	}
	d.config.nr_buckets = 64;
	d.config.nr_entries = 64;
	d.config.flags = CPI_KMOD_OUTCOME;
	device_configure(&d);
	device_start(&d);
	/* Sweeps all the time, then so few that the table overflows meanwhile. */
	while ((received = device_counts(&d, 0).received) < 2 * half) {
		bool sweep = received < half || received > swept + half / 2;

		device_flush(&d, sweep ? CPI_KMOD_TABLE : CPI_KMOD_FULL, NULL, NULL);
		if (sweep)
			swept = received;
	}
	device_stop_and_compare(&d, NULL, NULL);
	for (int i = 0; i < d.nr_cpus; i++) {
		struct cpi_kmod_stats s = device_stats(&d, i);

		printf("CPU %d: inserts %" PRIu64 ", evictions %" PRIu64
		       ", direct %" PRIu64 ", wakeups %" PRIu64 "\n",
		       i, s.inserts, s.evictions, s.direct, s.wakeups);
		evictions += s.evictions;
	}
	CHECK(evictions > 100, "hardly an eviction");
	end(pid[0]);
	end(pid[1]);
}

/* ---- full: both buffers, and then the reader drains while samples come ---- */

static void check_full(const char *event)
{
	struct device d = begin(event);
	pid_t pid = burn(many_begin, 0);
	struct pollfd p = { .fd = d.fd, .events = POLLIN };

	d.config.nr_buckets = 16;
	d.config.nr_entries = 16;
	device_configure(&d);
	CHECK(poll(&p, 1, 0) == 0, "readable before the start");
	device_start(&d);
	CHECK(poll(&p, 1, -1) == 1 && p.revents & POLLIN, "not readable when full");
	while (!device_counts(&d, 0).overflow)
		usleep(10000);
	for (int i = 0; i < 200; i++)
		device_flush_cpu(&d, 0, CPI_KMOD_FULL, NULL, NULL);
	device_stop_and_compare(&d, NULL, NULL);
	CHECK(poll(&p, 1, 0) == 0, "readable after everything was taken");
	CHECK(device_counts(&d, 0).overflow > 0, "nothing overflowed");
	end(pid);
}

/* ---- hold: sampling, until the standard input ends ---- */

static void check_hold(const char *event)
{
	struct device d = begin(event);
	char c;

	device_clock(&d, 500);
	device_configure(&d);
	device_start(&d);
	device_await(&d, 10);
	printf("holding\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
}

/* ---- hotplug: a CPU goes and comes back ---- */

static void set_online(int cpu, bool online)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0 && write(fd, online ? "1" : "0", 1) == 1, "%s", path);
	close(fd);
}

static void check_hotplug(const char *event)
{
	struct device d = begin(event);
	uint64_t before, gone, back;

	device_configure(&d);
	device_start(&d);
	device_await(&d, 500);
	for (int i = 0; i < 5; i++) {
		before = device_stats(&d, 1).received;
		set_online(1, false);
		gone = device_stats(&d, 1).received;
		device_await(&d, device_counts(&d, 0).received + 200);
		CHECK(device_stats(&d, 1).received == gone, "an offline CPU samples");
		device_flush(&d, i % 2 ? CPI_KMOD_TABLE : CPI_KMOD_FULL, NULL, NULL);
		set_online(1, true);
		while (device_stats(&d, 1).received < gone + 100)
			usleep(10000);
		back = device_stats(&d, 1).received;
		printf("CPU 1: %" PRIu64 " samples, %" PRIu64 " when it went, %" PRIu64
		       " when it was back\n",
		       before, gone, back);
	}
	device_stop_and_compare(&d, NULL, NULL);
}

/* ---- rate: as many samples as the counter's own count promises ---- */

static void check_rate(const char *event)
{
	struct device d = begin(event);
	pid_t pid = burn(loop_begin, 0);
	struct cpi_kmod_counts c;
	double expected;

	device_configure(&d);
	device_start(&d);
	device_await(&d, 3000);
	device_stop_and_compare(&d, NULL, NULL);
	c = device_counts(&d, 0);
	expected = (double)c.event_count / d.config.events[0].period;
	printf("expected %.0f, received %" PRIu64 "\n", expected, c.received);
	CHECK(!c.nr_error && c.running_ns == c.enabled_ns, "the counter was shared");
	CHECK(c.received > expected * 0.9 && c.received < expected * 1.1,
	      "not the rate asked for");
	end(pid);
}

/* ---- sleep: the machine is suspended, and goes on ---- */

static void check_sleep(const char *event)
{
	struct device d = begin(event);
	uint64_t before;

	device_configure(&d);
	device_start(&d);
	device_await(&d, 200);
	if (system("echo +2 >/sys/class/rtc/rtc0/wakealarm && "
		   "echo mem >/sys/power/state"))
		exit(77);
	for (int i = 0; i < d.nr_cpus; i++) {
		before = device_stats(&d, i).received;
		while (device_stats(&d, i).received < before + 100)
			usleep(10000);
	}
	device_stop_and_compare(&d, NULL, NULL);
}

/* ---- timed: the handler's cycles ---- */

static void check_timed(const char *event)
{
	struct device d = begin(event);
	uint64_t hits = 0, misses = 0;

	d.config.flags = CPI_KMOD_TIMED;
	device_configure(&d);
	device_start(&d);
	device_await(&d, 1000);
	device_stop_and_compare(&d, NULL, NULL);
	for (int i = 0; i < d.nr_cpus; i++) {
		struct cpi_kmod_stats s = device_stats(&d, i);

		CHECK(s.nr_timed_hits + s.nr_timed_misses == s.received,
		      "a handler was not timed");
		CHECK(s.bytes <= 512 << 10, "%u bytes per CPU", s.bytes);
		hits += s.nr_timed_hits;
		misses += s.nr_timed_misses;
		printf("CPU %d: %u bytes; %" PRIu64 " hits of %.0f cycles, %" PRIu64
		       " misses of %.0f\n",
		       i, s.bytes, s.nr_timed_hits,
		       (double)s.hit_cycles / (s.nr_timed_hits + !s.nr_timed_hits),
		       s.nr_timed_misses,
		       (double)s.miss_cycles /
			       (s.nr_timed_misses + !s.nr_timed_misses));
	}
	CHECK(hits && misses, "no hit, or no miss");
}

static const struct {
	const char *name;
	void (*run)(const char *event);
} checks[] = {
	{ "pcs", check_pcs },     { "branches", check_branches },
	{ "cpus", check_cpus },   { "flush", check_flush },
	{ "full", check_full },   { "hold", check_hold },
	{ "rate", check_rate },   { "hotplug", check_hotplug },
	{ "sleep", check_sleep }, { "timed", check_timed },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!strcmp(checks[i].name, argv[1])) {
			checks[i].run(argv[2]);
			return 0;
		}
	}
	fprintf(stderr, "usage: kmod_check CHECK [clock|cycles|nmi]\n");
	return 2;
}
