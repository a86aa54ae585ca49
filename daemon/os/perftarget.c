/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perftarget.c - what perf events measure: the system, a command, or a running process
 */
#include "config.h"

#include "daemon/os/perftarget.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "daemon/os/perfev.h"

#define MAX_STATUS 65536
#define TGID       "\nTgid:"

pid_t perftarget_process(pid_t thread)
{
	struct buf status = { 0 };
	const char *tgid = NULL;
	char path[64];
	pid_t process = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	if (!file_read_all(AT_FDCWD, path, MAX_STATUS, &status))
		tgid = strstr(buf_str(&status), TGID);
	if (tgid)
		process = (pid_t)strtol(tgid + strlen(TGID), NULL, 10);
	buf_fini(&status);
	return process;
}

static int add_thread(pid_t **thread, int *nr, pid_t tid)
{
	pid_t *grown = realloc(*thread, (*nr + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*thread = grown;
	grown[(*nr)++] = tid;
	return 0;
}

int perftarget_read_threads(pid_t pid, pid_t **thread, int *nr)
{
	pid_t *found = NULL;
	struct dirent *d;
	int nr_found = 0, err = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (d = readdir(dir))) {
		uint64_t tid;

		if (!number_parse(d->d_name, 10, &tid) && (pid_t)tid != pid)
			err = add_thread(&found, &nr_found, (pid_t)tid);
	}
	closedir(dir);
	if (err) {
		free(found);
		return err;
	}
	*thread = found;
	*nr = nr_found;
	return 0;
}

int perftarget_access(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	const int fd = perfev_open(&attr, pid, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int open_thread(struct perfthreads *t, struct perf_event_attr *attr, pid_t tid,
		       int cpu)
{
	const int fd = perfev_open(attr, tid, cpu);

	if (fd == -ESRCH)
		return 0;
	if (fd < 0)
		return fd;
	t->event[t->nr].fd = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &t->event[t->nr++].id))
		return -errno;
	return 0;
}

int perfthreads_open(const struct perftarget *target,
		     const struct perf_event_attr *attr, int cpu,
		     struct perfthreads *out)
{
	struct perf_event_attr copy = *attr;
	struct perfthreads t = { 0 };
	int err = 0;

	if (!target->nr_threads)
		return 0;
	t.event = calloc(target->nr_threads, sizeof(*t.event));
	if (!t.event)
		return -ENOMEM;
	for (int i = 0; i < target->nr_threads && !err; i++)
		err = open_thread(&t, &copy, target->thread[i], cpu);
	if (err)
		perfthreads_close(&t);
	else
		*out = t;
	return err;
}

void perfthreads_close(struct perfthreads *t)
{
	for (int i = 0; i < t->nr; i++)
		close(t->event[i].fd);
	free(t->event);
	*t = (struct perfthreads){ 0 };
}

int perfthreads_ioctl(const struct perfthreads *t, unsigned long request,
		      unsigned long argument)
{
	int err = 0;

	for (int i = 0; i < t->nr; i++) {
		if (ioctl(t->event[i].fd, request, argument))
			err = -errno;
	}
	return err;
}

bool perfthreads_have(const struct perfthreads *t, uint64_t id)
{
	for (int i = 0; i < t->nr; i++) {
		if (t->event[i].id == id)
			return true;
	}
	return false;
}
