/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guarded HOW MS - reads memory that a window must not, or cannot, for MS of CPU time
 *
 *	secret		of memfd_secret(2)
 *	inherited	the same, of the parent
 *	paged-out	of a file, which the kernel takes away each time
 *	user-fault	that a thread gives when it is read, by userfaultfd(2)
 *	no-access	PROT_NONE: a signal's handler goes on
 *	filtered	any, under seccomp's strictest mode
 *	unmapping	any, while another thread maps and unmaps code
 *	debugged	any, behind a breakpoint of a debugger that steps over it
 *
 * Each round runs through some instructions first, so that windows reach across the
 * read. Exits with 77 where the kernel has no such thing. "there N" is how often the
 * memory was there before the program had read it, and "taken N" how often it had been
 * taken away.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE       4096
#define MISSING    77
#define BREAKPOINT 0xcc

static volatile char *page;
static sigjmp_buf behind;
static unsigned long nr_there, nr_taken;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static __attribute__((noinline)) void approach(void)
{
	for (volatile int i = 0; i < 16; i++)
		;
}

/*
 * Takes its time in few instructions: what is done between them takes much more, and
 * windows begin here all the same.
 */
static __attribute__((noinline)) void approach_slowly(void)
{
#if defined(__x86_64__)
	for (int i = 0; i < 16; i++)
		__asm__ volatile("pause; pause; pause");
#else
	approach();
#endif
}

static void map(int flags, int fd)
{
	page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (page == MAP_FAILED)
		err(1, "mmap");
}

static void map_secret(void)
{
	const int fd = (int)syscall(SYS_memfd_secret, 0);

	if (fd < 0 || ftruncate(fd, SIZE))
		exit(MISSING);
	map(MAP_SHARED, fd);
	*page = 1;
}

static void read_on(double end)
{
	while (cpu_ms() < end) {
		for (int i = 0; i < 1000; i++) {
			approach();
			(void)*page;
		}
	}
}

/* Whether the page is in the process's tables: bit 63 of what the kernel says. */
static bool is_there(int pagemap)
{
	uint64_t entry = 0;

	if (pread(pagemap, &entry, sizeof(entry), (uintptr_t)page / SIZE * 8) !=
	    sizeof(entry))
		exit(MISSING);
	return entry >> 63;
}

static void read_taken_away(double end, int advice)
{
	const int pagemap = open("/proc/self/pagemap", O_RDONLY);

	while (cpu_ms() < end) {
		bool taken;

		madvise((void *)page, SIZE, advice);
		taken = !is_there(pagemap);
		approach();
		nr_taken += taken;
		nr_there += taken && is_there(pagemap);
		approach_slowly();
		(void)*page;
	}
}

static void *give_pages(void *arg)
{
	const int fd = *(int *)arg;
	struct uffd_msg msg;

	while (read(fd, &msg, sizeof(msg)) == sizeof(msg)) {
		struct uffdio_zeropage zero = { { (uintptr_t)page, SIZE }, 0, 0 };

		ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	}
	return NULL;
}

static void read_user_fault(double end)
{
	static int fd;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t thread;

	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		exit(MISSING);
	map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	reg.range.start = (uintptr_t)page;
	reg.range.len = SIZE;
	if (ioctl(fd, UFFDIO_REGISTER, &reg) ||
	    pthread_create(&thread, NULL, give_pages, &fd))
		exit(MISSING);
	read_taken_away(end, MADV_DONTNEED);
}

static void jump_behind(int signal)
{
	siglongjmp(behind, 1);
}

static void read_no_access(double end)
{
	map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mprotect((void *)page, SIZE, PROT_NONE);
	signal(SIGSEGV, jump_behind);
	while (cpu_ms() < end) {
		if (!sigsetjmp(behind, 1)) {
			approach_slowly();
			(void)*page;
		}
	}
}

static void *map_and_unmap(void *arg)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (;;) {
		void *at = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (at != MAP_FAILED)
			munmap(at, SIZE);
		usleep(200);
	}
	return arg;
}

/* A file of its own, with a page that nobody else has mapped. */
static void read_paged_out(double end)
{
	char path[] = "guarded-XXXXXX";
	const int fd = mkstemp(path);

	if (fd < 0 || unlink(path) || ftruncate(fd, SIZE))
		err(1, "%s", path);
	map(MAP_SHARED, fd);
	read_taken_away(end, MADV_PAGEOUT);
}

static __attribute__((noinline)) void stop_here(void)
{
	for (volatile int i = 0; i < 4; i++)
		;
}

/* Puts a byte where stop_here() begins, and says what was there. */
static long poke(pid_t pid, long byte)
{
	void *at = (void *)(uintptr_t)stop_here;
	const long word = ptrace(PTRACE_PEEKTEXT, pid, at, NULL);

	ptrace(PTRACE_POKETEXT, pid, at, (void *)((word & ~0xffL) | byte));
	return word & 0xff;
}

/* Its breakpoint is there at all times but for the step over it. */
static void debug(pid_t pid)
{
	struct user_regs_struct regs;
	int status;
	long was;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL))
		_exit(MISSING);
	waitpid(pid, &status, 0);
	was = poke(pid, BREAKPOINT);
	while (!ptrace(PTRACE_CONT, pid, NULL, NULL) &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		ptrace(PTRACE_GETREGS, pid, NULL, &regs);
		if (regs.rip != (uintptr_t)stop_here + 1)
			continue; /* any other stop */
		regs.rip--;
		ptrace(PTRACE_SETREGS, pid, NULL, &regs);
		poke(pid, was);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		waitpid(pid, &status, 0);
		poke(pid, BREAKPOINT);
	}
	_exit(0);
}

static void read_debugged(double end)
{
	const pid_t parent = getpid();

	map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (!fork())
		debug(parent);
	while (cpu_ms() < end) {
		for (int i = 0; i < 100; i++) {
			approach_slowly();
			stop_here();
		}
	}
}

/* write() and exit() alone are allowed from here on. */
static void read_filtered(long ms)
{
	map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		exit(MISSING);
	for (long i = 0; i < ms * 5000; i++) {
		approach();
		(void)*page;
	}
	syscall(SYS_exit, 0);
}

int main(int argc, char **argv)
{
	const char *how = argc == 3 ? argv[1] : "";
	const long ms = argc == 3 ? atol(argv[2]) : 0;
	const double end = cpu_ms() + (double)ms;
	pthread_t thread;

	if (!strcmp(how, "secret")) {
		map_secret();
		read_on(end);
	} else if (!strcmp(how, "inherited")) {
		int status;

		map_secret();
		if (!fork()) {
			read_on((double)ms);
			_exit(0);
		}
		wait(&status);
	} else if (!strcmp(how, "paged-out")) {
		read_paged_out(end);
	} else if (!strcmp(how, "debugged")) {
		read_debugged(end);
	} else if (!strcmp(how, "user-fault")) {
		read_user_fault(end);
	} else if (!strcmp(how, "no-access")) {
		read_no_access(end);
	} else if (!strcmp(how, "filtered")) {
		read_filtered(ms);
	} else if (!strcmp(how, "unmapping")) {
		map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (pthread_create(&thread, NULL, map_and_unmap, NULL))
			err(1, "pthread_create");
		read_on(end);
	} else {
		errx(1, "usage: guarded HOW MS");
	}
	printf("there %lu taken %lu\n", nr_there, nr_taken);
	return 0;
}
