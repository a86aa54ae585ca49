/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscallfilter.c - a seccomp program made from a list of numbers
 *
 * The program refuses the calls of other architectures, because their numbers mean
 * other calls. x32's numbers have an additional bit, so they are not in the list.
 */
#include "config.h"

#include "base/syscallfilter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC)

#define LOAD(member)                                            \
	(struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
				      offsetof(struct seccomp_data, member))
#define JUMP(test, value, yes, no) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, value, yes, no)
#define RETURN(what) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, what)

int syscall_filter_set(const int *allowed, int nr, bool opens)
{
	struct sock_filter code[2 * SYSCALL_FILTER_MAX + 10];
	struct sock_fprog program = { .filter = code };
	int n = 0;

	if (nr > SYSCALL_FILTER_MAX)
		return -E2BIG;
	code[n++] = LOAD(arch);
	code[n++] = JUMP(JEQ, ARCH, 1, 0);
	code[n++] = RETURN(REFUSE);
	code[n++] = LOAD(nr);
	for (int i = 0; i < nr; i++) {
		code[n++] = JUMP(JEQ, (unsigned int)allowed[i], 0, 1);
		code[n++] = RETURN(SECCOMP_RET_ALLOW);
	}
	if (opens) {
		code[n++] = JUMP(JEQ, SYS_openat, 1, 0);
		code[n++] = RETURN(REFUSE);
		code[n++] = LOAD(args[2]); /* little-endian: the flags' lower half */
		code[n++] = JUMP(JSET, WRITES, 1, 0);
		code[n++] = RETURN(SECCOMP_RET_ALLOW);
	}
	code[n++] = RETURN(REFUSE);
	program.len = (unsigned short)n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
