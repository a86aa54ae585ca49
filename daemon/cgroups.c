/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "db/context.h"

#define MAX_TEXT (64u << 10) /* a dozen hierarchies' paths */
#define EVENT    "events/cgroup/cgroup_attach_task/format"

/* One of a process that is a zombie may be gone already. */
static char *cut_deleted(char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t len = strlen(path), cut = sizeof(deleted) - 1;

	if (len > cut && !strcmp(path + len - cut, deleted))
		path[len - cut] = '\0';
	return path;
}

char *cgroups_parse(char *text)
{
	static const char named[] = ":name=systemd:";
	char *unified = NULL, *v1 = NULL, *line;

	while ((line = strsep(&text, "\n"))) {
		char *at = strstr(line, named);

		if (!strncmp(line, "0::/", 4))
			unified = cut_deleted(line + 3);
		else if (at && at[sizeof(named) - 1] == '/')
			v1 = cut_deleted(at + sizeof(named) - 1);
	}
	return v1 && (!unified || !unified[1]) ? v1 : unified;
}

static void set(struct procmap *pm, uint32_t tgid, const char *path)
{
	procmap_set_cgroup(pm, tgid,
			   strlen(path) <= CONTEXT_VALUE_MAX ? path : CONTEXT_OTHER);
}

int cgroups_read(struct procmap *pm, uint32_t tgid)
{
	struct buf text = { 0 };
	char name[64], *path;
	int err;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", tgid);
	err = file_read_all(AT_FDCWD, name, MAX_TEXT, &text);
	if (!err && *buf_str(&text)) {
		path = cgroups_parse(text.data);
		if (path)
			set(pm, tgid, path);
	}
	buf_fini(&text);
	return err;
}

/* A line "field:TYPE NAME; offset:N; size:N; ..." */
static int find_field(const char *format, const char *name, unsigned int size,
		      struct cgroup_field *out)
{
	const char *at = strstr(format, name);

	if (!at || sscanf(at + strlen(name), " offset:%u; size:%u;", &out->offset,
			  &out->size) != 2)
		return -EINVAL;
	return out->size == size && out->offset <= 4096 ? 0 : -EINVAL;
}

int cgroup_moves_parse(const char *format, struct cgroup_moves *out)
{
	struct cgroup_moves m;
	const char *id = strstr(format, "\nID: ");
	unsigned long long number;

	if (!id || sscanf(id, "\nID: %llu", &number) != 1 ||
	    find_field(format, " dst_root;", 4, &m.hierarchy) ||
	    find_field(format, " pid;", 4, &m.pid) ||
	    find_field(format, "__data_loc char[] dst_path;", 4, &m.path))
		return -EINVAL;
	m.id = number;
	*out = m;
	return 0;
}

/* A mount that nobody else sees, for the time that the result is open. Or -errno. */
static int mount_tracefs(void)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC), fd;

	if (context < 0)
		return -errno;
	fd = fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	if (!fd)
		fd = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	if (fd < 0)
		fd = -errno;
	close(context);
	return fd;
}

int cgroup_moves_find(struct cgroup_moves *out)
{
	static const char *const mounted[] = {
		"/sys/kernel/tracing/" EVENT,
		"/sys/kernel/debug/tracing/" EVENT,
	};
	struct buf text = { 0 };
	int err = -ENOENT, fd;

	for (size_t i = 0; err && i < sizeof(mounted) / sizeof(mounted[0]); i++)
		err = file_read_all(AT_FDCWD, mounted[i], MAX_TEXT, &text);
	if (err) {
		fd = mount_tracefs();
		err = fd < 0 ? fd : file_read_all(fd, EVENT, MAX_TEXT, &text);
		if (fd >= 0)
			close(fd);
	}
	if (!err)
		err = cgroup_moves_parse(buf_str(&text), out);
	buf_fini(&text);
	return err;
}

void cgroup_moves_attr(const struct cgroup_moves *m, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.config = m->id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/* What cgroup_moves_attr() asks for: who moved it, when, and the tracepoint's fields.
 */
struct record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t raw_size;
	char raw[];
};

static const struct record *record_of(const struct perf_event_header *h)
{
	const struct record *r = (const void *)h;
	const size_t fixed = offsetof(struct record, raw); /* sizeof has a hole */

	return h->size >= fixed && r->raw_size <= h->size - fixed ? r : NULL;
}

bool cgroup_moves_time(const struct perf_event_header *h, uint64_t *time)
{
	const struct record *r = record_of(h);

	if (r)
		*time = r->time;
	return r;
}

static bool read_field(const struct record *r, const struct cgroup_field *f,
		       uint32_t *out)
{
	if (f->offset + sizeof(*out) > r->raw_size)
		return false;
	memcpy(out, r->raw + f->offset, sizeof(*out));
	return true;
}

/* The text that a __data_loc, size << 16 | offset, stands for. NULL: it has no end. */
static const char *read_text(const struct record *r, uint32_t location)
{
	const uint32_t offset = location & 0xffff, size = location >> 16;

	if (offset + size > r->raw_size || !memchr(r->raw + offset, '\0', size))
		return NULL;
	return r->raw + offset;
}

/* v2's root says nothing of v1, and v1's numbers differ from machine to machine. */
void cgroup_moves_apply(const struct cgroup_moves *m, struct procmap *pm,
			const struct perf_event_header *h)
{
	const struct record *r = record_of(h);
	uint32_t hierarchy, pid, location;
	const char *path;

	if (!r || !read_field(r, &m->hierarchy, &hierarchy) ||
	    !read_field(r, &m->pid, &pid) || !read_field(r, &m->path, &location))
		return;
	path = read_text(r, location);
	if (!path || path[0] != '/')
		return;
	if (!hierarchy)
		set(pm, pid, path);
	if (hierarchy || !path[1])
		cgroups_read(pm, pid);
}
