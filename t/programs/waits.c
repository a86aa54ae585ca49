/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits - a process that others wait for, or have much to read of
 *
 *	waits userfault	a page with its environment is answered by nobody
 *	waits stopped	stopped by a signal
 *	waits traced	stopped by who traces it
 *	waits fork MB	forks without end, with so much memory
 *	waits maps	maps and unmaps without end
 *	waits many N	computes, with N mappings
 *	waits vfork N	so do its children without end, which share them
 *	waits burn	computes
 *
 * Prints the PID of the process as soon as it is so far. An alarm ends it after a
 * minute.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul

extern char **environ;

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void say(pid_t pid)
{
	printf("%d\n", (int)pid);
	fflush(stdout);
}

static _Noreturn void rest(void)
{
	for (;;)
		pause();
}

static _Noreturn void compute(void)
{
	for (;;)
		__asm__ volatile("");
}

/* The page of the first variable, which nobody here reads again. */
static void userfault(void)
{
	const uint64_t page = (uintptr_t)environ[0] & -PAGE;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range = { page, PAGE },
				       .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	say(getpid());
	if (madvise((void *)page, PAGE, MADV_DONTNEED))
		_exit(EXIT_FAILURE);
	rest();
}

static void stopped(void)
{
	say(getpid());
	raise(SIGSTOP);
	rest();
}

static void traced(void)
{
	const pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		rest();
	}
	waitpid(pid, NULL, WUNTRACED);
	say(pid);
	rest();
}

static void fork_on(size_t size)
{
	char *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || madvise(area, size, MADV_NOHUGEPAGE))
		die("mmap");
	for (size_t i = 0; i < size; i += PAGE)
		area[i] = 1;
	say(getpid());
	for (;;) {
		if (!fork())
			_exit(0);
		while (wait(NULL) > 0)
			;
	}
}

static void map_on(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	say(getpid());
	for (;;) {
		void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		munmap(p, PAGE);
	}
}

static void make_mappings(size_t n)
{
	char *area =
		mmap(NULL, n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < n; i += 2) {
		if (mprotect(area + i * PAGE, PAGE, PROT_READ))
			die("mprotect");
	}
	say(getpid());
}

static int compute_a_while(void *arg)
{
	volatile unsigned long x = 0;

	(void)arg;
	while (x < 30000000)
		x += 1;
	_exit(0);
}

static void vfork_on(void)
{
	static char stack[65536];

	for (;;) {
		clone(compute_a_while, stack + sizeof(stack),
		      CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
		while (wait(NULL) > 0)
			;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	alarm(60);
	if (!strcmp(what, "userfault"))
		userfault();
	if (!strcmp(what, "stopped"))
		stopped();
	if (!strcmp(what, "traced"))
		traced();
	if (!strcmp(what, "fork"))
		fork_on(n << 20);
	if (!strcmp(what, "maps"))
		map_on();
	if (!strcmp(what, "many") || !strcmp(what, "vfork"))
		make_mappings(n);
	if (!strcmp(what, "vfork"))
		vfork_on();
	if (!strcmp(what, "burn"))
		say(getpid());
	if (!strcmp(what, "burn") || !strcmp(what, "many"))
		compute();
	fprintf(stderr, "usage: see the top of t/programs/waits.c\n");
	return 2;
}
