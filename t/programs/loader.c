/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loader HOW LIBRARY [COUNT] - loads loaded.so, in the ways that programs do
 *
 *	threads	8 threads load and unload it COUNT times each
 *	fork	parent and child load it, the child without any descriptor
 *	space	in a name space of its own
 *	filter	under a seccomp filter that kills who makes a socket
 *	wait	says "ready", waits for a line, loads it, computes for COUNT ms in
 *		it, says "done", and waits for the end of the input
 *	read	LIBRARY is this program: reads leaf() from it into memory, prints its
 *		PID, where that is, its size, and its place in the file; then for
 *		each line of input computes COUNT ms there, and says "done"
 *
 * Prints "fine" and exits with 0 when all is as without an audit library: the next
 * free descriptor is the one before, and nothing fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR_THREADS 8
#define LEAF_BYTES 64 /* enough for leaf() */

unsigned long leaf(unsigned long rounds);

enum { EXIT_SKIP = 77 };

static const char *library;
static int count = 1;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void *load(Lmid_t space)
{
	void *handle = dlmopen(space, library, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	return handle;
}

static int next_descriptor(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd;
}

static void *load_and_unload(void *ctx)
{
	for (int i = 0; i < count; i++)
		dlclose(load(LM_ID_BASE));
	return ctx;
}

static void by_threads(void)
{
	pthread_t thread[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		if (pthread_create(&thread[i], NULL, load_and_unload, NULL))
			die("pthread_create");
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void by_fork(void)
{
	int root = open("/", O_PATH), status;
	pid_t child = fork();

	if (child < 0 || root < 0)
		die("fork");
	if (child) {
		load(LM_ID_BASE);
		if (waitpid(child, &status, 0) != child || status)
			die("the child");
		close(root);
		return;
	}
	if (syscall(SYS_close_range, 0U, ~0U, 0U))
		closefrom(0);
	load(LM_ID_BASE);
	_exit(next_descriptor() != 0);
}

static void filter_sockets(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(EXIT_SKIP);
	load(LM_ID_BASE);
}

/* Computes, and is code that works anywhere. */
__attribute__((noinline)) unsigned long leaf(unsigned long rounds)
{
	unsigned long x = rounds;

	for (unsigned long i = 0; i < rounds; i++) {
		x = x * 3 + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static int find_leaf(struct dl_phdr_info *info, size_t size, void *offset)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (uintptr_t)leaf - start < p->p_filesz)
			*(off_t *)offset =
				(off_t)((uintptr_t)leaf - start + p->p_offset);
	}
	return 1; /* the program is the first */
}

/* As programs do that bring a linker of their own. */
static void read_code(void)
{
	unsigned long (*copy)(unsigned long rounds);
	int fd = open(library, O_RDONLY | O_CLOEXEC);
	clock_t end;
	char line[16];
	off_t offset = 0;
	void *memory;

	dl_iterate_phdr(find_leaf, &offset);
	memory = mmap(NULL, LEAF_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || memory == MAP_FAILED ||
	    pread(fd, memory, LEAF_BYTES, offset) != LEAF_BYTES ||
	    mprotect(memory, LEAF_BYTES, PROT_READ | PROT_EXEC))
		die("code");
	close(fd);
	*(void **)&copy = memory;
	printf("%d %p %d %lld\n", (int)getpid(), memory, LEAF_BYTES, (long long)offset);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		end = clock() + count * (CLOCKS_PER_SEC / 1000);
		while (clock() < end)
			copy(100000);
		puts("done");
		fflush(stdout);
	}
}

static void when_told(void)
{
	double (*burn)(double ms);
	char line[16];

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		die("stdin");
	*(void **)&burn = dlsym(load(LM_ID_BASE), "loaded_burn");
	burn(count);
	puts("done");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	int fd = next_descriptor();

	if (argc > 2)
		library = argv[2];
	if (argc > 3)
		count = atoi(argv[3]);
	if (!strcmp(how, "threads"))
		by_threads();
	else if (!strcmp(how, "fork"))
		by_fork();
	else if (!strcmp(how, "space"))
		load(LM_ID_NEWLM);
	else if (!strcmp(how, "filter"))
		filter_sockets();
	else if (!strcmp(how, "wait"))
		when_told();
	else if (!strcmp(how, "read"))
		read_code();
	else
		return 2;
	if (next_descriptor() != fd)
		die("a descriptor is left");
	puts("fine");
	return 0;
}
