/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_peer - asks cpi-unwind for what no collector would, or for very much
 *
 *	bench STACKS DEPTH	has its own stack of so many calls unwound so often:
 *				says what the worker and its server took of a CPU for
 *each garbage SEED		sends messages of any kind, each to a worker of its own,
 *				and then asks the last one for a stack
 *
 * An alarm ends it after ten minutes.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/err.h"
#include "daemon/os/arch.h"
#include "daemon/stacks/unwind_child.h"

/* A frame of its own. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

#define MAX_IMAGES 64
#define IN_FLIGHT  64 /* samples, so that the worker always has one */
#define NR_GARBAGE 200

struct peer {
	struct unwind_child child;
	char *path[MAX_IMAGES];
	struct cpi_unwind_mapping mapping[MAX_IMAGES];
	uint32_t nr;
	uint64_t regs[CPI_UNWIND_REGS];
	uint64_t nr_stacks, depth;
	uint64_t end[CPI_UNWIND_NR_ENDS], nr_frames;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "unwind_peer: %s: %s\n", what, err_str(err));
	exit(EXIT_FAILURE);
}

static void read_maps(struct peer *p)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[8192];

	if (!f)
		die("maps", -errno);
	while (fgets(line, sizeof(line), f) && p->nr < MAX_IMAGES) {
		struct cpi_unwind_mapping *m = &p->mapping[p->nr];
		uint64_t offset;
		char perms[5], path[4096] = "";

		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4095[^\n]",
			   &m->start, &m->end, perms, &offset, path) < 4 ||
		    perms[2] != 'x' || m->start >> 63)
			continue;
		m->bias = offset - m->start;
		m->image = path[0] == '/' ? p->nr + 1 : 0;
		p->path[p->nr++] = strdup(path);
	}
	fclose(f);
}

static void take_registers(uint64_t regs[CPI_UNWIND_REGS])
{
	ucontext_t c;

	getcontext(&c);
#ifdef __x86_64__
	static const int greg[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
				    REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
				    REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
				    REG_R15, REG_RIP };

	for (size_t i = 0; i < sizeof(greg) / sizeof(greg[0]); i++)
		regs[i] = (uint64_t)c.uc_mcontext.gregs[greg[i]];
#else
	memcpy(regs, c.uc_mcontext.regs, 31 * sizeof(*regs));
	regs[31] = c.uc_mcontext.sp;
	regs[32] = c.uc_mcontext.pc;
#endif
}

static void put_map(struct peer *p)
{
	const size_t size = p->nr * sizeof(p->mapping[0]);
	struct cpi_unwind_map *m = unwind_child_put(&p->child, sizeof(*m) + size);

	if (!m)
		die("map", -ENOMEM);
	*m = (struct cpi_unwind_map){
		.kind = CPI_UNWIND_MAP, .nr = p->nr, .first = 1, .last = 1
	};
	memcpy(m + 1, p->mapping, size);
}

/* Frames of others, and what a sanitizer has put between them. */
__attribute__((no_sanitize("address"))) static void
copy_stack(char *to, const volatile char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}

/* Of the stack that whoever calls has now. */
static void put_sample(struct peer *p, uint64_t id, size_t size)
{
	struct cpi_unwind_sample *s =
		unwind_child_put(&p->child, sizeof(*s) + sizeof(p->regs) + size);
	const uint64_t sp = p->regs[arch_native.dwarf_sp];

	if (!s)
		die("sample", -ENOMEM);
	*s = (struct cpi_unwind_sample){
		.kind = CPI_UNWIND_SAMPLE, .id = id, .stack_at = sp, .stack_size = size
	};
	memcpy(s + 1, p->regs, sizeof(p->regs));
	copy_stack((char *)(s + 1) + sizeof(p->regs), (const void *)sp, size);
}

static void answer(struct peer *p)
{
	uint32_t image;
	int err, fd;

	while (!(err = unwind_child_asked(&p->child, &image))) {
		fd = image && image <= p->nr
			     ? open(p->path[image - 1], O_RDONLY | O_CLOEXEC)
			     : -ENOENT;
		err = unwind_child_answer(&p->child, image, fd, false);
		if (err)
			die("answer", err);
		if (fd >= 0)
			close(fd);
	}
	if (err != -EAGAIN && err != -EPIPE) /* it is gone: take_chain() says so */
		die("the worker asks", err);
}

/* Waits for a chain; false when the worker is gone. */
static bool take_chain(struct peer *p)
{
	static _Alignas(max_align_t) char message[CPI_UNWIND_MESSAGE];
	const struct cpi_unwind_chain *c = (const void *)message;
	ssize_t size;

	while ((size = unwind_child_take(&p->child, message, sizeof(message))) ==
	       -EAGAIN) {
		struct pollfd fds[CPI_UNWIND_NR_FDS] = {
			{ p->child.fd[CPI_UNWIND_WORK], POLLIN, 0 },
			{ p->child.fd[CPI_UNWIND_IMAGES], POLLIN, 0 },
		};

		poll(fds, CPI_UNWIND_NR_FDS, -1);
		answer(p);
	}
	if (size < 0)
		return false;
	if (!cpi_unwind_chain_ok(message, (size_t)size))
		die("chain", -CPI_ECORRUPT);
	p->end[c->end]++;
	p->nr_frames += c->nr;
	return true;
}

extern void *__libc_stack_end; /* glibc's: where the first frame begins */

APART static void have_unwound(struct peer *p, uint64_t nr)
{
	uint64_t sent = 0, taken = 0;
	size_t size;

	take_registers(p->regs);
	size = (size_t)((char *)__libc_stack_end -
			(char *)p->regs[arch_native.dwarf_sp]) +
	       64;
	if (size > 32768)
		size = 32768;
	put_map(p);
	while (taken < nr) {
		while (sent < nr && sent < taken + IN_FLIGHT)
			put_sample(p, ++sent, size & ~7UL);
		if (unwind_child_send(&p->child) || !take_chain(p))
			die("the worker", -EPIPE);
		taken++;
	}
}

APART static uint64_t recurse(struct peer *p, uint64_t depth)
{
	volatile char local[64];

	local[depth % 64] = (char)depth;
	if (!depth)
		have_unwound(p, p->nr_stacks);
	else
		recurse(p, depth - 1);
	return (uint64_t)local[depth % 64];
}

static void say(const struct peer *p)
{
	printf("stacks %" PRIu64 ", root %" PRIu64 ", frames of one %.1f\n",
	       p->nr_stacks, p->end[CPI_UNWIND_ROOT],
	       (double)p->nr_frames / (double)p->nr_stacks);
}

static int bench(struct peer *p)
{
	struct rusage use;
	double us;

	recurse(p, p->depth);
	unwind_child_stop(&p->child);
	getrusage(RUSAGE_CHILDREN, &use);
	us = 1e6 * (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	     (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
	say(p);
	printf("us of one %.2f, of one core %.0f/s\n", us / (double)p->nr_stacks,
	       1e6 * (double)p->nr_stacks / us);
	return EXIT_SUCCESS;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

static int garbage(struct peer *p, uint64_t seed)
{
	for (int i = 0; i < NR_GARBAGE; i++) {
		const size_t size = 4 + next_random(&seed) % 600;
		uint32_t *m = unwind_child_put(&p->child, size);

		if (!m)
			die("garbage", -ENOMEM);
		for (size_t k = 0; k < size; k++)
			((uint8_t *)m)[k] = (uint8_t)next_random(&seed);
		m[0] = (uint32_t)(next_random(&seed) % 4);
		/* What it says, if anything, is whatever the worker read into it. */
		if (!unwind_child_send(&p->child))
			take_chain(p);
		unwind_child_end(&p->child);
		if (unwind_child_begin(&p->child))
			die("the server", -EPIPE);
	}
	memset(p->end, 0, sizeof(p->end));
	p->nr_frames = 0;
	recurse(p, p->depth);
	say(p);
	unwind_child_stop(&p->child);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct peer p = { .nr_stacks = 1, .depth = 10 };
	int err;

	alarm(600);
	if (argc < 3 || (strcmp(argv[1], "bench") && strcmp(argv[1], "garbage"))) {
		fprintf(stderr, "usage: see unwind_peer.c\n");
		return 2;
	}
	read_maps(&p);
	p.child.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = unwind_child_start(&p.child);
	if (!err)
		err = unwind_child_begin(&p.child);
	if (err)
		die("cpi-unwind", err);
	if (!strcmp(argv[1], "garbage"))
		return garbage(&p, strtoull(argv[2], NULL, 10));
	p.nr_stacks = strtoull(argv[2], NULL, 10);
	p.depth = argc > 3 ? strtoull(argv[3], NULL, 10) : 10;
	return bench(&p);
}
