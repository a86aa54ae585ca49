/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox.c - what a process that reads hostile files may still do
 *
 * The filter lists the allowed calls: reading and writing open descriptors, memory, the
 * clock. Any other call fails.
 */
#include "config.h"

#include "helpers/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/ioprio.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/syscallfilter.h"

#define NOBODY 65534

#define NR_ALLOWED ((int)(sizeof(allowed) / sizeof(allowed[0])))
#ifdef SANITIZERS
#define MAX_MEMORY RLIM_INFINITY /* ASan's shadow takes terabytes of addresses */
#else
#define MAX_MEMORY ((rlim_t)512 << 20)
#endif

static const int allowed[] = {
	SYS_read,       SYS_write,         SYS_pread64,    SYS_fstat,
	SYS_close,      SYS_fcntl,         SYS_mmap,       SYS_mremap,
	SYS_munmap,     SYS_brk,           SYS_sendmsg,    SYS_recvmsg,
	SYS_futex,      SYS_clock_gettime, SYS_exit_group, SYS_mprotect,
	SYS_lseek,      SYS_rt_sigreturn,
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SANITIZERS
	SYS_exit,       SYS_madvise,       SYS_getrandom,
#endif
};

/* Keeps the permitted capabilities; drop_capabilities() drops them afterwards. */
static int become(const char *user)
{
	const struct passwd *pw = getpwnam(user);
	const uid_t uid = pw ? pw->pw_uid : NOBODY;
	const gid_t gid = pw ? pw->pw_gid : NOBODY;

	if (geteuid() != 0)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1L) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ||
	    prctl(PR_SET_KEEPCAPS, 0L) < 0)
		return -errno;
	return uid && gid ? 0 : -EPERM;
}

/*
 * Drops all capabilities. With keep_reading, CAP_DAC_READ_SEARCH stays permitted
 * (sandbox_read()).
 */
static int drop_capabilities(bool keep_reading)
{
	const cap_value_t reading = CAP_DAC_READ_SEARCH;
	cap_flag_value_t have = CAP_CLEAR;
	cap_t own = cap_get_proc(), left = cap_init();
	int err = 0;

	if (!own || !left)
		err = -ENOMEM;
	if (!err && keep_reading)
		cap_get_flag(own, reading, CAP_PERMITTED, &have);
	if (!err && (cap_set_flag(left, CAP_PERMITTED, 1, &reading, have) < 0 ||
		     cap_set_proc(left) < 0))
		err = -errno;
	cap_free(own);
	cap_free(left);
	return err;
}

int sandbox_read(bool effective)
{
	const cap_value_t reading = CAP_DAC_READ_SEARCH;
	cap_t own = cap_get_proc();
	int err = 0;

	if (!own)
		return -ENOMEM;
	if (cap_set_flag(own, CAP_EFFECTIVE, 1, &reading,
			 effective ? CAP_SET : CAP_CLEAR) < 0 ||
	    cap_set_proc(own) < 0)
		err = -errno;
	cap_free(own);
	return err;
}

/*
 * Lowers the priority; failures are ignored. SCHED_IDLE would be too low: on a busy
 * machine, files would be gone before they are read.
 */
static void go_behind_all(int nice)
{
	const struct sched_param param = { 0 };
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	setpriority(PRIO_PROCESS, 0, nice);
	sched_setscheduler(0, SCHED_BATCH, &param);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
		IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	if (fd < 0)
		return;
	file_write(fd, "1000", 4);
	close(fd);
}

int sandbox_give_up(const char *user, bool keep_reading, int nice)
{
	int err;

	go_behind_all(nice);
	err = become(user);
	if (!err)
		err = drop_capabilities(keep_reading);
	if (!err &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0 ||
	     prctl(PR_SET_DUMPABLE, 0L) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0))
		err = -errno;
	return err;
}

/* A tighter limit that is there already stays: only root may raise it. */
static int set_limit(int what, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return -errno;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(what, &limit) < 0 ? -errno : 0;
}

static int set_limits(unsigned int cpu_s)
{
	int err = set_limit(RLIMIT_AS, MAX_MEMORY);

	if (!err && cpu_s)
		err = set_limit(RLIMIT_CPU, cpu_s);
	if (!err)
		err = set_limit(RLIMIT_FSIZE, 0);
	if (!err)
		err = set_limit(RLIMIT_NPROC, 0);
	if (!err)
		err = set_limit(RLIMIT_CORE, 0);
	return err;
}

/*
 * First moves all descriptors to higher numbers, because the target of one may be the
 * source of another.
 */
int sandbox_place_fds(const int *fd, int nr)
{
	int high[SANDBOX_MAX_FDS];

	for (int i = 0; i < nr; i++) {
		high[i] = fcntl(fd[i], F_DUPFD, SANDBOX_FD + nr);
		if (high[i] < 0)
			return -errno;
	}
	for (int i = 0; i < nr; i++)
		if (dup2(high[i], SANDBOX_FD + i) < 0)
			return -errno;
	return dup2(STDOUT_FILENO, STDIN_FILENO) < 0 ? -errno : 0;
}

int sandbox_lock_in(int nr_fds, unsigned int cpu_s)
{
	int err = 0;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		err = -errno;
	closefrom(SANDBOX_FD + nr_fds);
	if (!err)
		err = drop_capabilities(false);
	if (!err)
		err = set_limits(cpu_s);
	return err ? err : syscall_filter_set(allowed, NR_ALLOWED, false);
}

bool sandbox_end_worker(pid_t worker)
{
	static const struct timespec pause = { 0, 10000000 };

	kill(worker, SIGKILL);
	for (int i = 0; i < 100; i++) {
		if (waitpid(worker, NULL, WNOHANG))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}
