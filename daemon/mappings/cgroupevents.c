/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroupevents.c - samples of tracepoints, parsed by the kernel's own description of
 * them
 *
 * The offsets of fields differ from kernel to kernel; files in tracefs have them. If
 * tracefs is not mounted, or the daemon's user cannot read it, it is mounted where no
 * other process sees it, while these files are read.
 */
#include "config.h"

#include "daemon/mappings/cgroupevents.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_FORMAT 65536
#define MOVED      "events/cgroup/cgroup_attach_task/format"
#define EXECUTED   "events/sched/sched_process_exec/format"

/* A line "field:TYPE NAME; offset:N; size:N; ..." */
static int find_field(const char *format, const char *name,
		      struct cgroupevents_field *out)
{
	const char *at = strstr(format, name);

	if (!at || sscanf(at + strlen(name), " offset:%u; size:%u;", &out->offset,
			  &out->size) != 2)
		return -EINVAL;
	return (out->size == 4 || out->size == 8) && out->offset <= 4096 ? 0 : -EINVAL;
}

static int find_id(const char *format, uint64_t *out)
{
	const char *id = strstr(format, "\nID: ");
	unsigned long long number;

	if (!id || sscanf(id, "\nID: %llu", &number) != 1)
		return -EINVAL;
	*out = number;
	return 0;
}

int cgroupevents_parse(const char *moved, const char *executed,
		       struct cgroupevents *out)
{
	struct cgroupevents ce;

	if (find_id(moved, &ce.moved) || find_id(executed, &ce.executed) ||
	    find_field(moved, " dst_root;", &ce.hierarchy) ||
	    find_field(moved, " dst_id;", &ce.id) ||
	    find_field(moved, " pid;", &ce.pid) ||
	    find_field(moved, "__data_loc char[] dst_path;", &ce.path))
		return -EINVAL;
	*out = ce;
	return 0;
}

/*
 * Mounts tracefs where no other process sees it. Returns a descriptor; the mount goes
 * away when that is closed. Or -errno.
 */
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

static int read_formats(int tracefs, struct cgroupevents *out)
{
	struct buf moved = { 0 }, executed = { 0 };
	int err = file_read_all(tracefs, MOVED, MAX_FORMAT, &moved);

	if (!err)
		err = file_read_all(tracefs, EXECUTED, MAX_FORMAT, &executed);
	if (!err)
		err = cgroupevents_parse(buf_str(&moved), buf_str(&executed), out);
	buf_fini(&moved);
	buf_fini(&executed);
	return err;
}

int cgroupevents_find(struct cgroupevents *out)
{
	static const char *const mounted[] = { "/sys/kernel/tracing",
					       "/sys/kernel/debug/tracing", NULL };
	int err = -ENOENT;

	for (size_t i = 0; err && i < sizeof(mounted) / sizeof(mounted[0]); i++) {
		int fd = mounted[i] ? open(mounted[i], O_PATH | O_DIRECTORY | O_CLOEXEC)
				    : mount_tracefs();

		if (fd < 0) {
			err = mounted[i] ? -errno : fd;
			continue;
		}
		err = read_formats(fd, out);
		close(fd);
	}
	return err;
}

void cgroupevents_attr(uint64_t tracepoint, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_CGROUP,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/*
 * What sample_type asks for: the process, the time, and the tracepoint's fields. Behind
 * raw is the id of the cgroup in which the event happened.
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
	const size_t others = offsetof(struct record, raw) + sizeof(uint64_t);

	return h->size >= others && r->raw_size <= h->size - others ? r : NULL;
}

bool cgroupevents_time(const struct perf_event_header *h, uint64_t *time)
{
	const struct record *r = record_of(h);

	if (r)
		*time = r->time;
	return r;
}

static bool read_field(const struct record *r, const struct cgroupevents_field *f,
		       uint64_t *out)
{
	uint64_t value = 0;

	if (f->offset + f->size > r->raw_size)
		return false;
	memcpy(&value, r->raw + f->offset,
	       f->size); /* assumes a little-endian machine */
	*out = value;
	return true;
}

/* The text of a __data_loc field, size << 16 | offset; NULL if it has no end. */
static const char *read_text(const struct record *r, uint64_t location)
{
	const uint32_t offset = location & 0xffff, size = location >> 16;

	if (offset + size > r->raw_size || !memchr(r->raw + offset, '\0', size))
		return NULL;
	return r->raw + offset;
}

static bool read_move(const struct cgroupevents *ce, const struct record *r,
		      struct cgroupevent *out)
{
	uint64_t hierarchy, id, pid, location;

	if (!read_field(r, &ce->hierarchy, &hierarchy) ||
	    !read_field(r, &ce->id, &id) || !read_field(r, &ce->pid, &pid) ||
	    !read_field(r, &ce->path, &location))
		return false;
	*out = (struct cgroupevent){ .tgid = pid,
				     .hierarchy = hierarchy,
				     .id = id,
				     .path = read_text(r, location) };
	return out->path && out->path[0] == '/';
}

bool cgroupevents_read(const struct cgroupevents *ce, const struct perf_event_header *h,
		       struct cgroupevent *out)
{
	const struct record *r = record_of(h);
	uint16_t tracepoint;

	if (!r || r->raw_size < sizeof(tracepoint))
		return false;
	memcpy(&tracepoint, r->raw, sizeof(tracepoint)); /* common_type */
	if (tracepoint == ce->moved)
		return read_move(ce, r, out);
	if (tracepoint != ce->executed)
		return false;
	*out = (struct cgroupevent){ .tgid = r->pid };
	memcpy(&out->id, r->raw + r->raw_size, sizeof(out->id));
	return true;
}
