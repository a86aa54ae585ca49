/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stepper.c - a library to preload: at a signal it single-steps the thread that got it
 *
 * By the trap flag, in the registers that the signal's handler returns to: each
 * instruction then ends in a SIGTRAP, and so does each round of a rep, which are told
 * of once. A signal that comes meanwhile is left alone.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "t/stepped.h"

#define TRAP_FLAG 0x100
#define MAX_TRAPS 2000 /* of a trace */

static struct stepped *stepped;
static __thread struct stepped_trace *trace __attribute__((tls_model("initial-exec")));
static __thread int nr_traps __attribute__((tls_model("initial-exec")));

static void note(struct stepped_trace *t, const ucontext_t *u)
{
	static const int number[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX,
					REG_RSP, REG_RBP, REG_RSI, REG_RDI,
					REG_R8,  REG_R9,  REG_R10, REG_R11,
					REG_R12, REG_R13, REG_R14, REG_R15 };
	const greg_t *gregs = u->uc_mcontext.gregs;
	const uint64_t pc = (uint64_t)gregs[REG_RIP];
	struct data_truth_regs *r = &t->regs[t->nr];

	if (t->nr && t->pc[t->nr - 1] == pc)
		return;
	t->pc[t->nr] = pc;
	for (int i = 0; i < 16; i++)
		r->gpr[i] = (uint64_t)gregs[number[i]];
	r->fs_base = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	__atomic_store_n(&t->nr, t->nr + 1, __ATOMIC_RELEASE);
}

static void begin(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	struct timespec now;
	uint32_t nr;

	if (trace)
		return;
	nr = __atomic_fetch_add(&stepped->nr, 1, __ATOMIC_RELAXED);
	if (nr >= STEPPED_MAX)
		return;
	trace = &stepped->trace[nr];
	nr_traps = 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	trace->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	trace->tid = (uint32_t)syscall(SYS_gettid);
	note(trace, u);
	u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	if (trace)
		note(trace, u);
	if (trace && trace->nr <= STEPPED_STEPS && ++nr_traps < MAX_TRAPS)
		return;
	u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	trace = NULL;
}

__attribute__((constructor)) static void start(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	const char *fd = getenv(STEPPED_FD);

	if (!fd)
		return;
	stepped = mmap(NULL, sizeof(*stepped), PROT_READ | PROT_WRITE, MAP_SHARED,
		       atoi(fd), 0);
	if (stepped == MAP_FAILED)
		abort();
	unsetenv(STEPPED_FD); /* what it starts is not stepped */
	unsetenv("LD_PRELOAD");
	sigaddset(&action.sa_mask, STEPPED_SIGNAL);
	action.sa_sigaction = step;
	sigaction(SIGTRAP, &action, NULL);
	action.sa_sigaction = begin;
	sigaction(STEPPED_SIGNAL, &action, NULL);
}
