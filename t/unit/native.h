/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native.h - one instruction on the machine itself, from any state
 *
 * A stopped child shares memory with the test, which sets its registers, steps it and
 * reads them again. Signals are its answer to what faults.
 */
#ifndef CPI_T_UNIT_NATIVE_H
#define CPI_T_UNIT_NATIVE_H

#include <cpuid.h>
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/unit/unit.h"

#define NATIVE_CODE    4096u  /* bytes that can be executed, */
#define NATIVE_MEMORY  65536u /* and that can be written */
#define NATIVE_VECTORS 32
#define NATIVE_MASKS   8

struct native {
	pid_t pid;
	uint8_t *code;
	uint8_t *memory;
	bool has_avx, has_avx512;
	uint32_t ymm_offset, mask_offset, zmm_offset, high_offset; /* in xstate */
	size_t xstate_size;
	uint8_t *xstate; /* as the child starts with */
	uint8_t *now;
};

struct native_state {
	struct user_regs_struct regs;
	uint64_t vector[NATIVE_VECTORS][4];
	uint64_t mask[NATIVE_MASKS];
};

/* Check takes note of each assertion, which costs more than the step itself. */
#define native_must(holds)                                  \
	do {                                                \
		if (!(holds))                               \
			ck_abort_msg("native: %s", #holds); \
	} while (0)

static inline uint32_t native_component(unsigned int number)
{
	uint32_t size, offset, c, d;

	__cpuid_count(13, number, size, offset, c, d);
	return offset;
}

static inline void native_find_components(struct native *n)
{
	uint32_t a, b, c, d;

	__cpuid_count(13, 0, a, b, c, d);
	n->has_avx = a & 4;
	n->has_avx512 = (a & 0xe0) == 0xe0;
	n->ymm_offset = native_component(2);
	n->mask_offset = native_component(5);
	n->zmm_offset = native_component(6);
	n->high_offset = native_component(7);
}

static inline void *native_map(size_t size, int protection)
{
	void *at = mmap(NULL, size, protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	native_must(at != MAP_FAILED);
	return at;
}

static inline void native_get_xstate(struct native *n, uint8_t *xstate, size_t *size)
{
	struct iovec io = { xstate, *size };

	native_must(ptrace(PTRACE_GETREGSET, n->pid, NT_X86_XSTATE, &io) == 0);
	*size = io.iov_len;
}

static inline void native_open(struct native *n)
{
	int status;

	memset(n, 0, sizeof(*n));
	n->code = native_map(NATIVE_CODE, PROT_READ | PROT_WRITE | PROT_EXEC);
	n->memory = native_map(NATIVE_MEMORY, PROT_READ | PROT_WRITE);
	n->pid = fork();
	if (!n->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(1);
	}
	native_must(waitpid(n->pid, &status, 0) == n->pid);
	native_must(ptrace(PTRACE_SETOPTIONS, n->pid, 0, PTRACE_O_EXITKILL) == 0);
	native_find_components(n);
	n->xstate_size = 65536;
	n->xstate = calloc(1, n->xstate_size);
	n->now = calloc(1, n->xstate_size);
	native_get_xstate(n, n->xstate, &n->xstate_size);
}

static inline void native_close(struct native *n)
{
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
	munmap(n->code, NATIVE_CODE);
	munmap(n->memory, NATIVE_MEMORY);
	free(n->xstate);
	free(n->now);
}

/* Where a 16-byte half of a vector register is kept; NULL if the machine has none. */
static inline uint8_t *native_half(const struct native *n, uint8_t *x, unsigned int v,
				   unsigned int half)
{
	if (v >= 16)
		return n->has_avx512 ? x + n->high_offset + 64 * (v - 16) + 16 * half
				     : NULL;
	if (!half)
		return x + 160 + 16 * v;
	return n->has_avx ? x + n->ymm_offset + 16 * v : NULL;
}

/* A machine without a register has 0 there, as native_get_vectors() returns it. */
static inline void native_clear_absent(struct native *n, struct native_state *s)
{
	for (unsigned int v = 0; v < NATIVE_VECTORS; v++)
		for (unsigned int half = 0; half < 2; half++)
			if (!native_half(n, n->now, v, half))
				memset(&s->vector[v][2 * half], 0, 16);
	if (!n->has_avx512)
		memset(s->mask, 0, sizeof(s->mask));
}

static inline void native_set_vectors(struct native *n, const struct native_state *s)
{
	const uint64_t components = (n->has_avx512 ? 0xe0 : 0) | (n->has_avx ? 7 : 3);
	struct iovec io = { n->now, n->xstate_size };
	uint64_t present;

	memcpy(n->now, n->xstate, n->xstate_size);
	memcpy(&present, n->now + 512, 8);
	present |= components;
	memcpy(n->now + 512, &present, 8);
	for (unsigned int v = 0; v < NATIVE_VECTORS; v++)
		for (unsigned int half = 0; half < 2; half++) {
			uint8_t *at = native_half(n, n->now, v, half);

			if (at)
				memcpy(at, &s->vector[v][2 * half], 16);
		}
	if (n->has_avx512)
		memcpy(n->now + n->mask_offset, s->mask, sizeof(s->mask));
	native_must(ptrace(PTRACE_SETREGSET, n->pid, NT_X86_XSTATE, &io) == 0);
}

static inline void native_get_vectors(struct native *n, struct native_state *s)
{
	size_t size = n->xstate_size;
	uint64_t present;

	native_get_xstate(n, n->now, &size);
	memcpy(&present, n->now + 512, 8);
	for (unsigned int v = 0; v < NATIVE_VECTORS; v++)
		for (unsigned int half = 0; half < 2; half++) {
			const uint64_t component = v >= 16 ? 0x80 : half ? 4 : 2;
			uint8_t *at = native_half(n, n->now, v, half);

			memset(&s->vector[v][2 * half], 0, 16);
			if (at && present & component)
				memcpy(&s->vector[v][2 * half], at, 16);
		}
	memset(s->mask, 0, sizeof(s->mask));
	if (n->has_avx512 && present & 0x20)
		memcpy(s->mask, n->now + n->mask_offset, sizeof(s->mask));
}

/* Steps from *s to *s. Returns 0, or the signal that came instead. */
static inline int native_step(struct native *n, struct native_state *s)
{
	const uint64_t start = s->regs.rip;
	int status, turns = 0;

	native_set_vectors(n, s);
	native_must(ptrace(PTRACE_SETREGS, n->pid, 0, &s->regs) == 0);
	do { /* rep stops at each of its turns */
		native_must(ptrace(PTRACE_SINGLESTEP, n->pid, 0, 0) == 0);
		native_must(waitpid(n->pid, &status, 0) == n->pid);
		native_must(WIFSTOPPED(status));
		native_must(ptrace(PTRACE_GETREGS, n->pid, 0, &s->regs) == 0);
	} while (WSTOPSIG(status) == SIGTRAP && s->regs.rip == start && turns++ < 64);
	native_get_vectors(n, s);
	return WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

#endif
