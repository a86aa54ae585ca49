/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_truth.c - windows against single steps of the very same instructions
 *
 * usage: window_truth [-n windows] [-l length] [-v] command [argument]...
 *
 * Runs the command under ptrace, all of its threads. At random moments all stop; one
 * thread's registers and the memory give a window, and then that thread does its steps,
 * one by one. Prints: windows, those that were exact, instructions per window, and why
 * the windows ended. Exits with 1 if a window went where the program did not.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t/data_truth.h"
#include "t/window_path.h"

#define MAX_THREADS 64
#define MAX_TURNS   1000

struct thread {
	pid_t tid;
	int signal; /* to be delivered when it goes on */
	bool stopped;
};

struct truth {
	struct window_pages *pages;
	struct thread thread[MAX_THREADS];
	uint32_t nr_threads;
	uint64_t random;
	uint32_t length;
	bool verbose;
	struct cpi_window_state state;
	struct window_counts counts;
};

static uint64_t next_random(struct truth *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static struct thread *thread_of(struct truth *t, pid_t tid)
{
	for (uint32_t i = 0; i < t->nr_threads; i++)
		if (t->thread[i].tid == tid)
			return &t->thread[i];
	return NULL;
}

static bool is_event(int status)
{
	return status >> 16 || WSTOPSIG(status) == SIGTRAP;
}

/* Takes note of what a thread reports. Returns it if it is stopped. */
static struct thread *note(struct truth *t, pid_t tid, int status)
{
	struct thread *thread = thread_of(t, tid);

	if (!WIFSTOPPED(status)) {
		if (thread)
			*thread = t->thread[--t->nr_threads];
		return NULL;
	}
	if (!thread) {
		if (t->nr_threads >= MAX_THREADS) {
			ptrace(PTRACE_DETACH, tid, 0, 0);
			return NULL;
		}
		thread = &t->thread[t->nr_threads++];
	}
	thread->tid = tid;
	thread->stopped = true;
	thread->signal = is_event(status) ? 0 : WSTOPSIG(status);
	return thread;
}

static void let_go(struct thread *thread)
{
	ptrace(PTRACE_CONT, thread->tid, 0, (long)thread->signal);
	thread->signal = 0;
	thread->stopped = false;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* All threads go on for a while, whatever they report. */
static void let_run(struct truth *t, uint64_t ns)
{
	const struct timespec nap = { 0, 20000 };
	const uint64_t until = now_ns() + ns;
	struct thread *thread;
	int status;
	pid_t tid;

	while (t->nr_threads) {
		while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
			thread = note(t, tid, status);
			if (thread)
				let_go(thread);
		}
		if (now_ns() >= until)
			return;
		nanosleep(&nap, NULL);
	}
}

static bool all_stopped(const struct truth *t)
{
	for (uint32_t i = 0; i < t->nr_threads; i++)
		if (!t->thread[i].stopped)
			return false;
	return true;
}

/* In whatever order they report: the first of those that exit does so last. */
static void stop_all(struct truth *t)
{
	int status;
	pid_t tid;

	for (uint32_t i = 0; i < t->nr_threads; i++)
		ptrace(PTRACE_INTERRUPT, t->thread[i].tid, 0, 0);
	while (!all_stopped(t) && (tid = waitpid(-1, &status, __WALL)) > 0)
		note(t, tid, status);
}

static void take_registers(struct cpi_window_state *s, const struct user_regs_struct *r)
{
	const uint64_t regs[] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
				  r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
				  r->r12, r->r13, r->r14, r->r15 };

	memcpy(s->reg, regs, sizeof(regs));
	s->flags = (uint32_t)r->eflags;
	s->reg[CPI_REG_THREAD] = r->fs_base;
}

static bool is_repeated(const struct truth *t, uint64_t pc)
{
	uint8_t byte = 0;

	return !window_pages_read(t->pages, &byte, 1, pc) && (byte | 1) == 0xf3;
}

/* A window_step_fn's. */
struct stepping {
	struct truth *truth;
	struct thread *thread;
};

/*
 * One instruction; all turns of a repeated one, unless there are too many to wait for.
 * Returns 0 and where it led, or -1.
 */
static int step(void *ctx, uint64_t *pc)
{
	struct truth *t = ((struct stepping *)ctx)->truth;
	struct thread *thread = ((struct stepping *)ctx)->thread;
	const bool repeated = is_repeated(t, *pc);
	const uint64_t old = *pc;
	int status, turns = 0;

	do {
		if (turns++ > MAX_TURNS ||
		    ptrace(PTRACE_SINGLESTEP, thread->tid, 0, 0) ||
		    waitpid(thread->tid, &status, __WALL) != thread->tid ||
		    !note(t, thread->tid, status) || thread->signal)
			return -1;
		*pc = (uint64_t)ptrace(PTRACE_PEEKUSER, thread->tid,
				       offsetof(struct user_regs_struct, rip), 0);
	} while (status >> 16 || (repeated && *pc == old));
	return 0;
}

/* A window_data_fn. */
static int data_at(void *ctx, uint64_t pc, uint64_t *address)
{
	struct truth *t = ((struct stepping *)ctx)->truth;
	struct thread *thread = ((struct stepping *)ctx)->thread;
	struct data_truth_regs regs;
	struct user_regs_struct r;
	uint8_t code[CPI_CODE_MORE];
	size_t size = sizeof(code);

	if (ptrace(PTRACE_GETREGS, thread->tid, 0, &r))
		return 0;
	if (window_pages_read(t->pages, code, size, pc)) { /* behind it is nothing */
		size = CPI_CODE_PAGE - pc % CPI_CODE_PAGE;
		if (size > sizeof(code) || window_pages_read(t->pages, code, size, pc))
			return 0;
	}
	regs = (struct data_truth_regs){
		.gpr = { r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8,
			 r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15 },
		.fs_base = r.fs_base,
	};
	return data_truth(code, size, pc, &regs, address);
}

/* One window of one thread, if that is not in a system call. */
static void sample(struct truth *t)
{
	struct thread *thread = &t->thread[next_random(t) % t->nr_threads];
	struct stepping stepping = { t, thread };
	struct user_regs_struct r;
	struct window_path path;

	if (!thread->stopped || thread->signal ||
	    ptrace(PTRACE_GETREGS, thread->tid, 0, &r) || (long)r.orig_rax >= 0)
		return;
	window_path_begin(&t->state, t->length);
	take_registers(&t->state, &r);
	window_path_follow(&t->state, t->pages, r.rip, t->length * 11 / 5, &path,
			   &t->counts);
	window_path_compare(&t->state, t->pages, &path, step, data_at, &stepping,
			    &t->counts);
}

/* Runs the command up to its first instruction. Returns its process, or -1. */
static pid_t start(char **argv)
{
	const long options =
		PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	const pid_t pid = fork();
	int status, null;

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid ||
	    ptrace(PTRACE_SEIZE, pid, 0, options) || kill(pid, SIGCONT))
		return -1;
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return pid;
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	return -1;
}

static int run(struct truth *t, uint64_t nr, char **argv)
{
	const pid_t pid = start(argv);

	t->pages = pid > 0 ? window_pages_new(pid, EM_X86_64) : NULL;
	if (!t->pages) {
		fprintf(stderr, "window_truth: %s: cannot be followed\n", argv[0]);
		return 2;
	}
	note(t, pid, SIGTRAP << 8 | 0x7f);
	let_go(&t->thread[0]);
	while (t->counts.nr_windows < nr) {
		let_run(t, next_random(t) % 1000000);
		if (!t->nr_threads)
			break;
		stop_all(t);
		if (t->nr_threads)
			sample(t);
		for (uint32_t i = 0; i < t->nr_threads; i++)
			let_go(&t->thread[i]);
	}
	kill(pid, SIGKILL);
	window_counts_print(&t->counts, t->verbose);
	window_pages_free(t->pages);
	return t->counts.nr_exact == t->counts.nr_windows ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct truth *t = calloc(1, sizeof(*t));
	const char *seed = getenv("SEED");
	uint64_t nr = 1000;
	int c, err;

	if (!t)
		return 2;
	t->length = 100;
	t->random = seed ? strtoull(seed, NULL, 0) | 1 : now_ns() | 1;
	while ((c = getopt(argc, argv, "+l:n:v")) != -1) {
		if (c == 'l')
			t->length = (uint32_t)atoi(optarg);
		else if (c == 'n')
			nr = strtoull(optarg, NULL, 0);
		else if (c == 'v')
			t->verbose = true;
		else
			return 2;
	}
	if (optind >= argc || t->length > CPI_WINDOW_MAX) {
		fprintf(stderr, "usage: window_truth [-n windows] [-l length] [-v] "
				"command [argument]...\n");
		return 2;
	}
	err = run(t, nr, argv + optind);
	free(t);
	return err;
}
