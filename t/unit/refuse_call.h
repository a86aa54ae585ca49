/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refuse_call.h - a process that lacks a system call: as under the filter of a unit or
 * of a container's runtime, and on old kernels
 */
#ifndef CPI_T_UNIT_REFUSE_CALL_H
#define CPI_T_UNIT_REFUSE_CALL_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "t/unit/unit.h"

/* For the rest of this process's life. */
static inline void refuse_call(unsigned int nr, unsigned int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { NR(code), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

#endif
