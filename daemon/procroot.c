/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A path is walked by its parts, and nothing is asked of a file system before it is
 * known which one that is. That a directory is the root of a mount asks nobody; nor
 * does a descriptor's mount number, or a device, when no news are asked for.
 */
#include "config.h"

#include "daemon/procroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "daemon/mountinfo.h"

#define MOUNTINFO_MAX_BYTES (4u << 20)
#define MAPS_MAX_BYTES      (16u << 20)
#define FDINFO_MAX_BYTES    4096

static int read_mountinfo(pid_t tgid, struct buf *out)
{
	char path[64] = "/proc/self/mountinfo";

	if (tgid)
		snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)tgid);
	return file_read_all(AT_FDCWD, path, MOUNTINFO_MAX_BYTES, out);
}

/* The number of the mount that fd is on, or -1. */
static int mount_of(int fd)
{
	struct buf text = { 0 };
	const char *line;
	char path[64];
	int id = -1;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (!file_read_all(AT_FDCWD, path, FDINFO_MAX_BYTES, &text)) {
		line = strstr(buf_str(&text), "mnt_id:");
		if (line)
			sscanf(line, "mnt_id: %d", &id);
	}
	buf_fini(&text);
	return id;
}

/* The device that a file says to be on, without asking whoever has it. */
static int device_of(int fd, dev_t *out)
{
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &sx))
		return -errno;
	*out = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	return 0;
}

/* Whether the file is in memory, on a mount that nobody sees. */
static bool is_memory(dev_t device)
{
	int fd = memfd_create("device", MFD_CLOEXEC);
	dev_t memory = 0;
	bool same;

	if (fd < 0)
		return false;
	same = !device_of(fd, &memory) && device == memory;
	close(fd);
	return same;
}

/* Whether tgid's mounts were made by who may mount here, too. */
static bool has_trusted_mounts(pid_t tgid)
{
	char path[64];
	struct stat its, own;
	int ns, owner = -1;
	bool same = false;

	if (!tgid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)tgid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns >= 0)
		owner = ioctl(ns, NS_GET_USERNS);
	if (owner >= 0) {
		same = !fstat(owner, &its) && !stat("/proc/self/ns/user", &own) &&
		       its.st_ino == own.st_ino;
		close(owner);
	}
	if (ns >= 0)
		close(ns);
	return same;
}

/* A mount outside of its root directory is not in its list, but may be in ours. */
static int judge_mount(pid_t tgid, int fd, int mount_id)
{
	enum mountinfo_kind kind = MOUNTINFO_NONE;
	struct buf text = { 0 };
	dev_t device;
	int err;

	if (!read_mountinfo(tgid, &text))
		kind = mountinfo_find_mount(buf_str(&text), mount_id);
	if (kind == MOUNTINFO_OVERLAY && !has_trusted_mounts(tgid))
		kind = MOUNTINFO_REMOTE;
	if (kind == MOUNTINFO_NONE) {
		err = device_of(fd, &device);
		buf_reset(&text);
		if (!err && !read_mountinfo(0, &text))
			kind = mountinfo_find_device(buf_str(&text), device);
		if (!err && kind == MOUNTINFO_NONE && is_memory(device))
			kind = MOUNTINFO_LOCAL;
	}
	buf_fini(&text);
	return kind == MOUNTINFO_LOCAL || kind == MOUNTINFO_OVERLAY ? 0 : -EREMOTE;
}

/* Whether fd's file system answers; *mount_id is one that does, or -1. */
static int check_mount(pid_t tgid, int fd, int *mount_id)
{
	int id = mount_of(fd), err;

	if (id >= 0 && id == *mount_id)
		return 0;
	err = judge_mount(tgid, fd, id);
	if (!err)
		*mount_id = id;
	return err;
}

static int open_root(pid_t tgid)
{
	char path[64] = "/";
	int fd;

	if (tgid)
		snprintf(path, sizeof(path), "/proc/%d/root", (int)tgid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The next part of a path, and what is behind it; false at its end. */
static bool next_part(const char **path, char part[NAME_MAX + 1], int *err)
{
	const char *from = *path + strspn(*path, "/");
	size_t len = strcspn(from, "/");

	if (len > NAME_MAX || (len == 2 && !memcmp(from, "..", 2))) {
		*err = -EINVAL;
		return false;
	}
	memcpy(part, from, len);
	part[len] = '\0';
	*path = from + len;
	return len;
}

/* Takes dir over. Gives what is at the path below it, to look at, or -errno. */
static int walk(pid_t tgid, int dir, const char *path)
{
	char part[NAME_MAX + 1];
	int mount_id = -1;
	int fd, err = check_mount(tgid, dir, &mount_id);

	while (!err && next_part(&path, part, &err)) {
		fd = openat(dir, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			err = -errno;
			break;
		}
		close(dir);
		dir = fd;
		err = check_mount(tgid, dir, &mount_id);
	}
	if (err) {
		close(dir);
		return err;
	}
	return dir;
}

/*
 * Takes found over, which is open for a look. Opened for more is only a regular file:
 * a device may mind.
 */
static int open_found(int found, struct stat *st)
{
	char self[64];
	int fd;

	if (fstat(found, st)) {
		fd = -errno;
	} else if (!S_ISREG(st->st_mode)) {
		fd = S_ISLNK(st->st_mode) ? -ELOOP : -ENODEV;
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(found);
	return fd;
}

int procroot_open(pid_t tgid, const char *path, enum procroot_caution caution,
		  struct stat *st)
{
	int fd, root = open_root(tgid);

	if (root < 0)
		return root;
	if (caution == PROCROOT_NEVER_WAIT) {
		fd = walk(tgid, root, path);
		return fd < 0 ? fd : open_found(fd, st);
	}
	fd = file_open_in_root(root, path, st);
	close(root);
	return fd;
}

/* Opens what a link in /proc leads to, if it is the file wanted. */
static int open_link(pid_t tgid, const char *link, ino_t inode,
		     enum procroot_caution caution, struct stat *st)
{
	int mount_id = -1, err = 0;
	int fd, found = open(link, O_PATH | O_CLOEXEC);

	if (found < 0)
		return -errno;
	if (caution == PROCROOT_NEVER_WAIT)
		err = check_mount(tgid, found, &mount_id);
	if (err) {
		close(found);
		return err;
	}
	fd = open_found(found, st);
	if (fd < 0 || st->st_ino == inode)
		return fd;
	close(fd);
	return -ESTALE;
}

/* Where in memory the file is mapped, as map_files has it: "START-END". */
static int find_mapping(const char *maps, dev_t device, ino_t inode, char out[40])
{
	const char *next;

	for (const char *line = maps; *line; line = next) {
		unsigned long long start, end, ino;
		unsigned int major_nr, minor_nr;

		next = line + strcspn(line, "\n");
		if (*next)
			next++;
		if (sscanf(line, "%llx-%llx %*s %*x %x:%x %llu", &start, &end,
			   &major_nr, &minor_nr, &ino) != 5 ||
		    ino != inode || makedev(major_nr, minor_nr) != device)
			continue;
		snprintf(out, 40, "%llx-%llx", start, end);
		return 0;
	}
	return -ENOENT;
}

int procroot_open_mapped(pid_t tgid, dev_t device, ino_t inode,
			 enum procroot_caution caution, struct stat *st)
{
	char path[128], where[40];
	struct buf maps = { 0 };
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tgid);
	fd = open_link(tgid, path, inode, caution, st);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tgid);
	fd = file_read_all(AT_FDCWD, path, MAPS_MAX_BYTES, &maps);
	if (!fd)
		fd = find_mapping(buf_str(&maps), device, inode, where);
	buf_fini(&maps);
	if (fd)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%s", (int)tgid, where);
	return open_link(tgid, path, inode, caution, st);
}

/* Kernels before 5.12 do not know what is in memory: there it is asked for. */
static int open_cached(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED,
	};
	int fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && errno == EINVAL) {
		how.resolve &= ~RESOLVE_CACHED;
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	}
	return fd < 0 ? -errno : fd;
}

static void take_stat(const struct statx *sx, struct stat *out)
{
	*out = (struct stat){
		.st_dev = makedev(sx->stx_dev_major, sx->stx_dev_minor),
		.st_ino = sx->stx_ino,
		.st_mode = sx->stx_mode,
		.st_uid = sx->stx_uid,
		.st_size = (off_t)sx->stx_size,
		.st_mtim = { sx->stx_mtime.tv_sec, sx->stx_mtime.tv_nsec },
		.st_ctim = { sx->stx_ctime.tv_sec, sx->stx_ctime.tv_nsec },
	};
}

int procroot_peek(pid_t tgid, const char *path, struct stat *st)
{
	int fd, err = 0, root = open_root(tgid);
	struct statx sx;

	if (root < 0)
		return root;
	fd = open_cached(root, path);
	close(root);
	if (fd < 0)
		return fd;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx))
		err = -errno;
	else
		take_stat(&sx, st);
	close(fd);
	return err;
}
