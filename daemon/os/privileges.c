/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A system-wide profiler can read almost everything, so an attacker who takes it over
 * should be able to do little else. It keeps six capabilities:
 *
 *	PERFMON		to open events again when a CPU comes online or the rate
 *			changes (SYS_ADMIN if the kernel has no PERFMON, or the
 *			process was not given it)
 *	SYS_PTRACE	/proc/PID/maps and /proc/PID/root of every process
 *	DAC_READ_SEARCH	binaries that only their owners may read
 *	SYSLOG		addresses in /proc/kallsyms
 *	BPF		to switch and read the BPF tables, on kernels that need
 *			it for that and not only for loading
 *	CHECKPOINT_RESTORE  /proc/PID/map_files: mapped files without a name
 *
 * The order matters: changing the bounding set and the securebits needs SETPCAP, which
 * the last step drops.
 */
#include "config.h"

#include "daemon/os/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define NR_KEPT    6
#define NR_READING 3

static bool have_flag(int cap, cap_flag_t flag)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (!caps)
		return false;
	if (cap_get_flag(caps, cap, flag, &value) < 0)
		value = CAP_CLEAR; /* a number that libcap does not know */
	cap_free(caps);
	return value == CAP_SET;
}

bool privileges_have(int cap)
{
	return have_flag(cap, CAP_EFFECTIVE);
}

/* Makes every permitted capability effective: a change of user clears that. */
static int raise_all(void)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t value;
	int err = 0;

	if (!caps)
		return -errno;
	for (cap_value_t cap = 0; cap_get_flag(caps, cap, CAP_PERMITTED, &value) == 0;
	     cap++) {
		if (cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, value) < 0) {
			err = -errno;
			goto out;
		}
	}
	if (cap_set_proc(caps) < 0)
		err = -errno;
out:
	cap_free(caps);
	return err;
}

int privileges_become(const char *user)
{
	const struct passwd *pw;
	int err;

	errno = 0;
	pw = getpwnam(user);
	if (!pw) {
		err = errno ? -errno : -ENOENT;
		log_err("user: %s: %s", user,
			err == -ENOENT ? "there is no such user" : err_str(err));
		return err;
	}
	if (prctl(PR_SET_KEEPCAPS, 1L) < 0 || initgroups(user, pw->pw_gid) < 0 ||
	    setgid(pw->pw_gid) < 0 || setuid(pw->pw_uid) < 0 ||
	    prctl(PR_SET_KEEPCAPS, 0L) < 0)
		err = -errno;
	else
		err = raise_all();
	if (err)
		log_err("user: cannot become %s: %s; only root can", user,
			err_str(err));
	return err;
}

static void list_kept(cap_value_t kept[NR_KEPT])
{
	kept[0] = have_flag(CAP_PERFMON, CAP_PERMITTED) ? CAP_PERFMON : CAP_SYS_ADMIN;
	kept[1] = CAP_SYS_PTRACE;
	kept[2] = CAP_DAC_READ_SEARCH;
	kept[3] = CAP_SYSLOG;
	kept[4] = CAP_BPF;
	kept[5] = CAP_CHECKPOINT_RESTORE;
}

/*
 * Of a process that only reads for the daemon (timed_child.h). Before Linux 5.9, and
 * where CHECKPOINT_RESTORE was not given, map_files wants SYS_ADMIN.
 */
static void list_reading(cap_value_t kept[NR_READING])
{
	kept[0] = CAP_SYS_PTRACE;
	kept[1] = CAP_DAC_READ_SEARCH;
	kept[2] = have_flag(CAP_CHECKPOINT_RESTORE, CAP_PERMITTED)
			  ? CAP_CHECKPOINT_RESTORE
			  : CAP_SYS_ADMIN;
}

static bool is_kept(const cap_value_t *kept, int nr, cap_value_t cap)
{
	for (int i = 0; i < nr; i++) {
		if (kept[i] == cap)
			return true;
	}
	return false;
}

/* Makes sure that neither user id 0 nor executing a file gives further capabilities. */
static int lock_out(const cap_value_t *kept, int nr)
{
	const unsigned long bits =
		SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
		SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	if (!privileges_have(CAP_SETPCAP))
		return 0;
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++) {
		if (!is_kept(kept, nr, cap) && cap_drop_bound(cap) < 0)
			return -errno;
	}
	return prctl(PR_SET_SECUREBITS, bits) < 0 ? -errno : 0;
}

static int keep_only(const cap_value_t *kept, int nr)
{
	cap_t caps = cap_init();
	int err = 0;

	if (!caps)
		return -errno;
	for (int i = 0; i < nr; i++) {
		if (!have_flag(kept[i], CAP_PERMITTED))
			continue;
		if (cap_set_flag(caps, CAP_PERMITTED, 1, &kept[i], CAP_SET) < 0 ||
		    cap_set_flag(caps, CAP_EFFECTIVE, 1, &kept[i], CAP_SET) < 0) {
			err = -errno;
			goto out;
		}
	}
	if (cap_set_proc(caps) < 0)
		err = -errno;
out:
	cap_free(caps);
	return err;
}

/* Neither a core file nor a debugger of the same user shows what was sampled. */
static int hide_memory(void)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0L) < 0)
		return -errno;
	return 0;
}

static int drop_but(const cap_value_t *kept, int nr)
{
	int err = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L) < 0)
		err = -errno;
	if (!err)
		err = lock_out(kept, nr);
	if (!err)
		err = keep_only(kept, nr);
	return err ? err : hide_memory();
}

int privileges_keep_reading(void)
{
	cap_value_t kept[NR_READING];

	list_reading(kept);
	return drop_but(kept, NR_READING);
}

/*
 * The rings of a CPU that comes online later are locked memory. CAP_IPC_LOCK, which let
 * those of the start exceed the limit, is not kept. cpid.service sets the same limit; a
 * process that may not raise the hard limit gets that.
 */
static void allow_locked_memory(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	if (!setrlimit(RLIMIT_MEMLOCK, &limit) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

int privileges_drop(void)
{
	cap_value_t kept[NR_KEPT];
	int err;

	allow_locked_memory();
	list_kept(kept);
	err = drop_but(kept, NR_KEPT);
	if (err)
		log_err("privileges: cannot give them up: %s", err_str(err));
	return err;
}

int privileges_give_up_all(void)
{
	cap_t none = cap_init();
	int err = none ? 0 : -errno;

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0)
		err = -errno;
	/* A thread has its own ambient ones, which go with the permitted ones. */
	if (!err && cap_set_proc(none) < 0)
		err = -errno;
	cap_free(none);
	return err;
}
