/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.c - Landlock for files, a system call filter for the rest, and rlimits
 *
 * The filter lists the calls to refuse, because LLVM, SQLite and graphviz together use
 * too many calls to list the allowed ones. It refuses, with EPERM, calls that trace
 * other processes or change the machine. It also refuses sockets that are not local;
 * reports need local ones to ask cpid for a flush. With the network it also allows the
 * families of TCP, UDP and netlink, which resolvers use.
 */
#include "config.h"

#include "service/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_FILES 256

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#define X32  0x40000000u /* calls of x32 have this bit */
#else
#define ARCH AUDIT_ARCH_AARCH64
#define X32  0xffffffffu
#endif

/* All rights to change files that the first version of Landlock has. */
#define ALL_WRITES                                                       \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |     \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* The right to shorten a file, since version 3. */
#define TRUNCATE       (1ULL << 14)
#define FIRST_TRUNCATE 3

static const int refused[] = {
	SYS_truncate, /* of older kernels, whose Landlock does not know it */
	SYS_setpgid,  /* a report's children must stay in its process group */
	SYS_setsid,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	SYS_pidfd_getfd,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_setns,
	SYS_unshare,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_open_by_handle_at,
	SYS_swapon,
	SYS_quotactl,
	SYS_acct,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_sethostname,
};
#define NR_REFUSED ((unsigned char)LENGTH(refused))

/* A tighter limit that is there already stays: only root may raise it. */
static int set_limit(int what, rlim_t soft, rlim_t hard)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return -errno;
	if (limit.rlim_max > hard)
		limit.rlim_max = hard;
	if (soft > limit.rlim_max)
		soft = limit.rlim_max;
	if (limit.rlim_cur > soft)
		limit.rlim_cur = soft;
	return setrlimit(what, &limit) < 0 ? -errno : 0;
}

static int set_limits(const struct confine_limits *limits)
{
	int err = 0;

#ifndef SANITIZERS /* ASan's shadow takes terabytes of addresses */
	err = set_limit(RLIMIT_AS, limits->memory_bytes, limits->memory_bytes);
#endif
	if (!err &&
	    limits->cpu_s) /* SIGXCPU says why; at the hard limit it would be SIGKILL */
		err = set_limit(RLIMIT_CPU, limits->cpu_s, limits->cpu_s + 1);
	if (!err)
		err = set_limit(RLIMIT_NOFILE, MAX_FILES, MAX_FILES);
	if (!err)
		err = set_limit(RLIMIT_CORE, 0, 0);
	return err;
}

/* The rights to files that this kernel's Landlock can refuse. */
static uint64_t known_writes(void)
{
	const long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
				     LANDLOCK_CREATE_RULESET_VERSION);

	return version < FIRST_TRUNCATE ? ALL_WRITES : ALL_WRITES | TRUNCATE;
}

static int allow_folder(int rules, uint64_t known, const char *folder)
{
	struct landlock_path_beneath_attr below = {
		.allowed_access = known & (LANDLOCK_ACCESS_FS_WRITE_FILE |
					   LANDLOCK_ACCESS_FS_REMOVE_FILE |
					   LANDLOCK_ACCESS_FS_MAKE_REG | TRUNCATE),
		.parent_fd = open(folder, O_PATH | O_CLOEXEC),
	};
	int err = 0;

	if (below.parent_fd < 0) /* without a folder there is nothing to allow */
		return errno == ENOENT ? 0 : -errno;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below,
		    0))
		err = -errno;
	close(below.parent_fd);
	return err;
}

/* After a clean end there are no -wal and -shm files, and a reader creates them. */
static int allow_beside(int rules, uint64_t known, const char *db)
{
	char wal[PATH_MAX], shm[PATH_MAX], folder[PATH_MAX];

	snprintf(wal, sizeof(wal), "%s-wal", db);
	snprintf(shm, sizeof(shm), "%s-shm", db);
	if (!access(wal, F_OK) && !access(shm, F_OK))
		return 0;
	snprintf(folder, sizeof(folder), "%s", db);
	return allow_folder(rules, known, dirname(folder));
}

static int allow_all(int rules, uint64_t known, const struct confine_limits *limits)
{
	int err = 0;

	for (size_t i = 0; !err && i < LENGTH(limits->folder); i++)
		err = limits->folder[i] ? allow_folder(rules, known, limits->folder[i])
					: 0;
	for (int i = 0; !err && limits->dbs && i < limits->dbs->nr; i++)
		err = allow_beside(rules, known, limits->dbs->item[i]);
	return err;
}

static int refuse_writes(const struct confine_limits *limits)
{
	const uint64_t known = known_writes();
	const struct landlock_ruleset_attr all = { .handled_access_fs = known };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	int err;

	/* A container's filter refuses calls that it does not know with EPERM. */
	if (rules < 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM))
		return 0;
	if (rules < 0)
		return -errno;
	err = allow_all(rules, known, limits);
	if (!err && syscall(SYS_landlock_restrict_self, rules, 0))
		err = -errno;
	close(rules);
	return err;
}

/*
 * Refuses the calls of other architectures and of x32, because their numbers mean other
 * calls. Then refuses the listed calls, and socket() with families that are not
 * allowed.
 */
static int refuse_calls(bool network)
{
	static const unsigned int families[] = { AF_UNIX, AF_INET, AF_INET6,
						 AF_NETLINK };
	const unsigned char nr = network ? LENGTH(families) : 1;
	struct sock_filter code[NR_REFUSED + 10 + LENGTH(families)];
	const unsigned int refuse = SECCOMP_RET_ERRNO | EPERM;
	struct sock_fprog program = { .filter = code };
	unsigned int n = 0;

#define PUT(...) (code[n++] = (struct sock_filter)__VA_ARGS__)
	PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	PUT(BPF_STMT(BPF_RET | BPF_K, refuse));
	PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1));
	PUT(BPF_STMT(BPF_RET | BPF_K, refuse));
	for (unsigned char i = 0; i < NR_REFUSED; i++)
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)refused[i],
			     (unsigned char)(NR_REFUSED - i + 1 + nr), 0));
	PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0,
		     (unsigned char)(2 + nr)));
	PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])));
	for (unsigned char i = 0; i < nr; i++)
		PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, families[i],
			     (unsigned char)(nr - i), 0));
	PUT(BPF_STMT(BPF_RET | BPF_K, refuse));
	PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#undef PUT
	program.len = (unsigned short)n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

int confine_self(const struct confine_limits *limits)
{
	int err = 0;

	if ((limits->with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0)
		err = -errno;
	if (!err)
		err = set_limits(limits);
	if (!err)
		err = refuse_writes(limits);
	return err ? err : refuse_calls(limits->network);
}
