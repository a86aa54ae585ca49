/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.c - windows of a command, by single-stepping it:
 *           steps DB HZ INSNS WINDOWS SECONDS CMD...
 *
 * A timer stops the command at random moments of user mode; the next INSNS
 * instructions are stepped through, as an interpreter would follow them. What DB has
 * samples of already, and CMD's images are, tells where they are. The windows come into
 * an epoch of their own. CMD is run again and
 * again, until there are so many WINDOWS, for at most SECONDS.
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/window.h"
#include "analysis/isa/isa.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/times.h"
#include "db/query/query.h"
#include "db/store/store.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif
#define MAX_IMAGES   4096
#define MAX_MAPPINGS 512
#define CACHE        (1 << 16)
#define LEFT         CPI_WINDOW_NO_CODE
/* Rounds of a repeated one are steps each. */
#define ENDS (INSN_SYSCALL | INSN_TRAP | INSN_BAD | INSN_REPEAT)

struct mapping {
	uint64_t start, end, offset;
	int image; /* -1: unknown */
};

/* A decoded instruction, by its address. */
struct known {
	uint64_t pc;
	uint32_t size, kind;
};

struct steps {
	struct image_desc image[MAX_IMAGES];
	struct windows *set[MAX_IMAGES];
	int nr_images;
	struct mapping mapping[MAX_MAPPINGS];
	int nr_mappings;
	struct known known[CACHE];
	struct isa *isa;
	struct db *db;
	struct query_epochs epochs;
	pid_t pid;
	uint64_t hz, insns, nr, most, random, begun_ns, end_ns;
};

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

static int add_image(void *ctx, const struct query_profile *row)
{
	struct steps *s = ctx;
	struct image_desc *image = &s->image[s->nr_images];

	if (row->image.desc.kind != IMAGE_FILE || s->nr_images == MAX_IMAGES ||
	    (s->nr_images && !strcmp(image[-1].name, row->image.desc.name)))
		return 0;
	*image = row->image.desc;
	image->name = strdup(row->image.desc.name);
	s->set[s->nr_images] = windows_new(WINDOWS_LIMIT, s->nr_images);
	s->nr_images++;
	return image->name ? 0 : -ENOMEM;
}

static int image_of(const struct steps *s, const char *path)
{
	for (int i = 0; i < s->nr_images; i++) {
		if (!strcmp(s->image[i].name, path))
			return i;
	}
	return -1;
}

static void read_mappings(struct steps *s)
{
	char path[64], line[4096], name[4096], mode[8];
	struct mapping m;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	f = fopen(path, "re");
	s->nr_mappings = 0;
	memset(s->known, 0, sizeof(s->known));
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095s",
			   &m.start, &m.end, mode, &m.offset, name) != 5 ||
		    mode[2] != 'x' || s->nr_mappings == MAX_MAPPINGS)
			continue;
		m.image = image_of(s, name);
		s->mapping[s->nr_mappings++] = m;
	}
	if (f)
		fclose(f);
}

/* The image that pc is in, and where; -1 when nobody knows. */
static int place(const struct steps *s, uint64_t pc, uint64_t *offset)
{
	for (int i = 0; i < s->nr_mappings; i++) {
		const struct mapping *m = &s->mapping[i];

		if (pc < m->start || pc >= m->end)
			continue;
		*offset = pc - m->start + m->offset;
		return m->image;
	}
	return -1;
}

static const struct known *decode(struct steps *s, uint64_t pc)
{
	struct known *k = &s->known[hash_u64(pc) % CACHE];
	uint8_t bytes[16];
	struct iovec local = { bytes, sizeof(bytes) };
	struct iovec remote = { (void *)pc, sizeof(bytes) }; /* NOLINT */
	struct insn insn;
	ssize_t size;

	if (k->pc == pc)
		return k;
	size = process_vm_readv(s->pid, &local, 1, &remote, 1, 0);
	if (size <= 0 || isa_decode(s->isa, bytes, (size_t)size, pc, &insn))
		return NULL;
	*k = (struct known){ pc, insn.size, insn.kind };
	return k;
}

/* Where it is now; 0 when it is gone, or something else has stopped it. */
static uint64_t step(const struct steps *s, int *signal)
{
	struct user_regs_struct regs;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, s->pid, 0, 0) < 0 ||
	    waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status))
		return 0;
	if (WSTOPSIG(status) != SIGTRAP || status >> 16) {
		*signal = status >> 16 ? 0 : WSTOPSIG(status);
		return 0;
	}
	return ptrace(PTRACE_GETREGS, s->pid, 0, &regs) < 0 ? 0 : regs.rip;
}

/* Follows control from pc, and adds the window. Returns a signal to go on with. */
static int follow(struct steps *s, uint64_t pc)
{
	struct window_jump jump[WINDOW_MAX_INSNS];
	struct window w = { .jump = jump, .n = 1 };
	const struct known *k;
	int image, signal = 0, set = place(s, pc, &w.start);
	uint64_t at = w.start, next;

	if (set < 0)
		return 0;
	w.end = w.start;
	for (w.nr_insns = 0; w.nr_insns < s->insns; pc = next) {
		k = decode(s, pc);
		if (!k || k->kind & ENDS) {
			w.reason = LEFT;
			break;
		}
		next = step(s, &signal);
		if (!next)
			return signal;
		image = place(s, next, &at);
		if (image < 0) {
			w.reason = LEFT;
			break;
		}
		if (next != pc + k->size)
			jump[w.nr_jumps++] = (struct window_jump){ w.end, at, image };
		w.nr_insns++;
		w.end = at;
	}
	if (w.nr_insns) {
		check(windows_add(s->set[set], &w), "window");
		s->nr++;
	}
	return 0;
}

/* At random, of user time. */
static uint64_t next_period(struct steps *s)
{
	s->random += 0x9e3779b97f4a7c15ULL;
	return 1 + hash_u64(s->random) % (2 * NSEC_PER_SEC / s->hz);
}

/* A signal stops the command where a timer's interrupt finds it in user mode. */
static int open_timer(struct steps *s)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = next_period(s),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, s->pid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static bool is_over(const struct steps *s)
{
	return s->nr >= s->most || time_mono_ns() >= s->end_ns;
}

static int follow_from_here(struct steps *s, int timer)
{
	struct user_regs_struct regs;
	uint64_t offset, period = next_period(s);
	int signal = 0;

	ioctl(timer, PERF_EVENT_IOC_DISABLE, 0);
	if (!ptrace(PTRACE_GETREGS, s->pid, 0, &regs)) {
		if (place(s, regs.rip, &offset) < 0)
			read_mappings(s);
		signal = follow(s, regs.rip);
	}
	ioctl(timer, PERF_EVENT_IOC_PERIOD, &period);
	ioctl(timer, PERF_EVENT_IOC_ENABLE, 0);
	return signal;
}

static bool is_timers(const struct steps *s)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, s->pid, 0, &info) &&
	       info.si_signo == SIGTRAP && info.si_code == TRAP_PERF;
}

static void trace(struct steps *s)
{
	int status, timer = -1, signal;

	while (waitpid(s->pid, &status, 0) == s->pid && WIFSTOPPED(status)) {
		signal = status >> 16 ? 0 : WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_EXEC)
			timer = open_timer(s);
		else if (is_timers(s))
			signal = follow_from_here(s, timer);
		if (is_over(s) || timer < 0)
			kill(s->pid, SIGKILL);
		ptrace(PTRACE_CONT, s->pid, 0, signal);
	}
	if (timer < 0)
		err(EXIT_FAILURE, "perf_event_open");
	close(timer);
}

static void start(struct steps *s, char **command)
{
	int ready[2];
	char c;

	if (pipe(ready) < 0)
		err(EXIT_FAILURE, "pipe");
	s->pid = fork();
	if (s->pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!s->pid) {
		close(ready[1]);
		if (read(ready[0], &c, 1) != 1)
			_exit(EXIT_FAILURE);
		close(ready[0]);
		execvp(command[0], command);
		err(EXIT_FAILURE, "%s", command[0]);
	}
	close(ready[0]);
	if (ptrace(PTRACE_SEIZE, s->pid, 0, PTRACE_O_TRACEEXEC) < 0)
		err(EXIT_FAILURE, "ptrace");
	if (write(ready[1], "", 1) != 1)
		err(EXIT_FAILURE, "pipe");
	close(ready[1]);
	memset(s->known, 0, sizeof(s->known));
	s->nr_mappings = 0;
}

/* As cpi record --by=comm calls it. */
static void name_context(const char *path, char *name, size_t size)
{
	snprintf(name, size, "comm=%.15s", path_base(path));
}

static void store(struct steps *s, struct store *store, const char *program)
{
	const struct image_desc *images[MAX_IMAGES];
	static struct flush_window_set set[2 * MAX_IMAGES];
	char context[32];
	struct flush_stream stream = {
		.desc = { "windows", "import", "", "ns", NSEC_PER_SEC / s->hz,
			  LANDING_PRECISE },
	};
	struct flush_windows windows = { .streams = { .stream = &stream, .nr = 1 },
					 .sets = set,
					 .images = images,
					 .nr_images = s->nr_images };
	struct flush f = { .seq = 1,
			   .from_ns = s->begun_ns,
			   .to_ns = time_real_ns(),
			   .windows = &windows };

	name_context(program, context, sizeof(context));
	f.duration_ns = f.to_ns - f.from_ns;
	for (int i = 0; i < s->nr_images; i++) {
		images[i] = &s->image[i];
		stream.received += windows_seen(s->set[i]);
		if (!windows_seen(s->set[i]))
			continue;
		set[windows.nr_sets++] = (struct flush_window_set){ &s->image[i], 0, "",
								    s->set[i], NULL };
		set[windows.nr_sets++] =
			(struct flush_window_set){ &s->image[i], 0, context, s->set[i],
						   NULL };
	}
	check(store_flush(store, &f), "flush");
	printf("%" PRIu64 " windows\n", stream.received);
}

/* As the newest epoch says. */
static struct platform_desc platform_of(const struct query_epoch *e)
{
	return (struct platform_desc){ e->host,    e->arch,     e->cpu,    e->release,
				       e->boot_id, e->clock_hz, e->nr_cpus };
}

int main(int argc, char **argv)
{
	static struct steps s;
	struct query_selection sel = { .epochs = &s.epochs };
	struct platform_desc platform;
	struct store *run;

	if (argc < 7)
		errx(2, "usage: steps DB HZ INSNS WINDOWS SECONDS CMD...");
	s.hz = strtoull(argv[2], NULL, 10);
	s.insns = strtoull(argv[3], NULL, 10);
	if (!s.hz || !s.insns || s.insns > WINDOW_MAX_INSNS)
		errx(2, "HZ and INSNS are numbers, INSNS at most %d", WINDOW_MAX_INSNS);
	check(isa_open(MACHINE_X86_64, &s.isa), "isa");
	check(db_open(argv[1], DB_COLLECT, &s.db), argv[1]);
	check(query_epochs(s.db, "all", &s.epochs), "epochs");
	check(query_profiles(s.db, &sel, add_image, &s, NULL), "profiles");
	s.begun_ns = time_real_ns();
	platform = platform_of(&s.epochs.epoch[s.epochs.nr - 1]);
	check(store_begin(s.db, &platform, s.begun_ns, &run), "run");
	check(store_epoch(run, s.begun_ns, 0, NULL), "epoch");
	s.most = strtoull(argv[4], NULL, 10);
	s.end_ns = time_mono_ns() + strtoull(argv[5], NULL, 10) * NSEC_PER_SEC;
	while (!is_over(&s)) {
		start(&s, argv + 6);
		trace(&s);
		lseek(STDIN_FILENO, 0, SEEK_SET);
	}
	store(&s, run, argv[6]);
	check(store_end(run, time_real_ns()), "end");
	query_epochs_fini(&s.epochs);
	db_close(s.db);
	isa_close(s.isa);
	return EXIT_SUCCESS;
}
