/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_dump PID [BYTES [ROUNDS]] - the call chains of a process that stands still
 *
 * Copies the registers and BYTES of the stack (65528) of each of its threads, as the
 * kernel does at a sample, and prints their chains, a line each: the TID, why it ends,
 * and the PCs. With ROUNDS each is unwound so often, and the time of one is said.
 */
#include "config.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "analysis/unwind/unwind.h"
#include "base/err.h"
#include "base/times.h"

#define MAX_MAPPINGS 4096

static const char *end_name(enum unwind_end end)
{
	static const char *const names[] = {
		[UNWIND_ROOT] = "root",         [UNWIND_COPY] = "copy",
		[UNWIND_UNMAPPED] = "unmapped", [UNWIND_NO_TABLE] = "no_table",
		[UNWIND_BROKEN] = "broken",     [UNWIND_DEPTH] = "depth",
		[UNWIND_LOOP] = "loop",
	};

	return names[end];
}

static struct unwind_mapping mapping[MAX_MAPPINGS];
static const struct unwindtables *tables_of[MAX_MAPPINGS];
static size_t nr_mappings;

static void die(const char *what)
{
	fprintf(stderr, "unwind_dump: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static struct unwindtables *open_tables(pid_t pid, const char *path)
{
	static char last[4096];
	static struct unwindtables *tables;
	struct elffile *file;
	char at[8192];
	int fd;

	if (!strcmp(path, last))
		return tables;
	snprintf(last, sizeof(last), "%s", path);
	tables = NULL;
	snprintf(at, sizeof(at), "/proc/%d/root%s", (int)pid, path);
	fd = open(at, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (elffile_open_fd(fd, &file)) {
		close(fd);
		return NULL;
	}
	if (unwindtables_open(file, &tables)) {
		elffile_close(file);
		tables = NULL;
	}
	return tables;
}

static const struct unwindtables *get_tables(void *ctx, uint32_t image)
{
	return tables_of[image - 1];
}

static void read_maps(pid_t pid)
{
	char path[64], line[8192];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f) && nr_mappings < MAX_MAPPINGS) {
		struct unwind_mapping *m = &mapping[nr_mappings];
		uint64_t offset;
		char perms[5], name[4096] = "";

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4095[^\n]",
			   &m->start, &m->end, perms, &offset, name) < 4 ||
		    perms[2] != 'x')
			continue;
		m->bias = offset - m->start;
		if (name[0] == '/')
			tables_of[nr_mappings] = open_tables(pid, name);
		m->image = (uint32_t)++nr_mappings;
	}
	fclose(f);
}

static void read_regs(pid_t tid, uint64_t regs[UNWIND_NR_REGS])
{
	struct user_regs_struct r;
	struct iovec part = { &r, sizeof(r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part))
		die("PTRACE_GETREGSET");
#ifdef __x86_64__
	const uint64_t order[] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi,
				   r.rbp, r.rsp, r.r8,  r.r9,  r.r10, r.r11,
				   r.r12, r.r13, r.r14, r.r15, r.rip };

	memcpy(regs, order, sizeof(order));
#else
	memcpy(regs, &r, UNWIND_NR_REGS * sizeof(*regs));
#endif
}

#ifdef __x86_64__
#define SP 7
#else
#define SP 31
#endif

static void dump(struct unwinder *u, pid_t tid, size_t bytes, int rounds)
{
	uint64_t regs[UNWIND_NR_REGS] = { 0 }, begun;
	struct unwind_sample s = { .regs = regs };
	static struct unwind_chain chain;
	char *stack = malloc(bytes);
	struct iovec to, from;
	ssize_t got = -1;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    waitpid(tid, NULL, __WALL) != tid)
		die("ptrace");
	read_regs(tid, regs);
	for (; got < 0 && bytes; bytes /= 2) {
		to = (struct iovec){ stack, bytes };
		from = (struct iovec){ (void *)regs[SP], bytes };
		got = process_vm_readv(tid, &to, 1, &from, 1, 0);
	}
	s.stack_at = regs[SP];
	s.stack = stack;
	s.stack_size = got > 0 ? (size_t)got : 0;
	begun = time_mono_ns();
	for (int i = 0; i < rounds; i++)
		unwinder_run(u, &s, &chain);
	printf("%d %s", (int)tid, end_name(chain.end));
	for (size_t i = 0; i < chain.nr; i++)
		printf(" 0x%" PRIx64, chain.frame[i].pc);
	printf("\n");
	if (rounds > 1)
		printf("# %.0f ns for %zu frames\n",
		       (double)(time_mono_ns() - begun) / rounds, chain.nr);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	free(stack);
}

int main(int argc, char **argv)
{
	const pid_t pid = argc > 1 ? atoi(argv[1]) : 0;
	const size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 65528;
	const int rounds = argc > 3 ? atoi(argv[3]) : 1;
	struct unwinder *u;
	struct dirent *d;
	char path[64];
	DIR *tasks;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		die(path);
	read_maps(pid);
	err = unwinder_open(get_tables, NULL, &u);
	if (!err)
		err = unwinder_map(u, mapping, nr_mappings);
	if (err) {
		fprintf(stderr, "unwind_dump: %s\n", err_str(err));
		return err == -EOPNOTSUPP ? 77 : EXIT_FAILURE;
	}
	while ((d = readdir(tasks))) {
		if (d->d_name[0] != '.')
			dump(u, atoi(d->d_name), bytes, rounds);
	}
	closedir(tasks);
	unwinder_close(u);
	return 0;
}
