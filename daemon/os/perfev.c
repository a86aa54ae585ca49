/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfev.c - perf_event_open(), and what its refusals mean
 */
#include "config.h"

#include "daemon/os/perfev.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

int perfev_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

long perfev_sysctl(const char *name, long fallback)
{
	struct buf text = { 0 };
	char path[128], *end;
	long v = fallback;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (!file_read_all(AT_FDCWD, path, 64, &text)) {
		const char *s = buf_str(&text);

		v = strtol(s, &end, 10);
		if (end == s)
			v = fallback;
	}
	buf_fini(&text);
	return v;
}

/* Then the kernel refuses samples with registers, whoever asks. */
static bool is_locked_down(void)
{
	struct buf text = { 0 };
	const bool is =
		!file_read_all(AT_FDCWD, "/sys/kernel/security/lockdown", 256, &text) &&
		strstr(buf_str(&text), "[confidentiality]");

	buf_fini(&text);
	return is;
}

/* Beyond 2, which Debian's kernels add, the kernel refuses CAP_PERFMON as well. */
static void explain_permission(struct buf *out)
{
	const long paranoid = perfev_sysctl("perf_event_paranoid", 2);

	buf_printf(out, "no permission (kernel.perf_event_paranoid is %ld): %s",
		   paranoid,
		   paranoid > 2 ? "set that sysctl to 2, and run as root or grant "
				  "CAP_PERFMON"
				: "run as root, grant CAP_PERFMON, or set that sysctl "
				  "to 0");
}

void perfev_explain(int err, struct buf *out)
{
	switch (-err) {
	case EACCES:
	case EPERM: /* lockdown's, and some filters' of containers */
		if (err == -EPERM && is_locked_down())
			buf_puts(out,
				 "the kernel is locked down for confidentiality and "
				 "refuses samples with registers: boot with "
				 "lockdown=integrity, if your policy allows it");
		else
			explain_permission(out);
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		buf_puts(out, "this machine does not have that counter");
		break;
	case ENOSYS:
		buf_puts(out, "the kernel was built without perf events");
		break;
	case EMFILE:
		buf_puts(out, "too many open files: raise RLIMIT_NOFILE");
		break;
	default:
		buf_puts(out, err_str(err));
	}
}

/* Without CAP_IPC_LOCK -EPERM means that the limit is reached, if there is one. */
void perfev_explain_ring(int err, struct buf *out)
{
	struct rlimit limit = { 0 };

	if (err == -EPERM &&
	    (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur != RLIM_INFINITY))
		buf_puts(out, "their buffers need more locked memory than is allowed: "
			      "raise RLIMIT_MEMLOCK");
	else if (err == -EPERM || err == -EACCES)
		perfev_explain(err, out);
	else
		buf_puts(out, err_str(err));
}

int perfev_system_access(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	int fd = perfev_open(&attr, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
