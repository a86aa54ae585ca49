/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procroot.c - files as another process sees them
 */
#include "config.h"

#include "daemon/os/procroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define MAPS_MAX_BYTES (16u << 20)

static int open_root(pid_t tgid)
{
	char path[64] = "/";
	int fd;

	if (tgid)
		snprintf(path, sizeof(path), "/proc/%d/root", (int)tgid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Reopens an O_PATH descriptor for reading, and closes it. Reopens only regular
 * files, because opening a device may have side effects.
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

/* Opens a path below root for a look; resolve is more of openat2()'s flags. */
static int find_below(int root, const char *path, uint64_t resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS | resolve,
	};
	int fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		return file_open_in_steps(root, path, 0);
	return fd < 0 ? -errno : fd;
}

int procroot_open(pid_t tgid, const char *path, struct stat *st)
{
	int found, root = open_root(tgid);

	if (root < 0)
		return root;
	found = find_below(root, path, 0);
	close(root);
	return found < 0 ? found : open_found(found, st);
}

bool procroot_is_ours(pid_t tgid)
{
	struct stat own, its;
	char root[64];

	snprintf(root, sizeof(root), "/proc/%d/root", (int)tgid);
	return !stat("/", &own) && !stat(root, &its) && file_same(&own, &its);
}

/* The link's mode says what its descriptor may do. */
int procroot_open_descriptor(pid_t tgid, int fd, struct stat *st)
{
	struct stat link;
	char path[64];
	int found;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tgid, fd);
	if (lstat(path, &link))
		return -errno;
	if (!(link.st_mode & S_IRUSR))
		return -EACCES;
	found = open(path, O_PATH | O_CLOEXEC);
	return found < 0 ? -errno : open_found(found, st);
}

/* Opens what a link in /proc leads to, if it is the file wanted. */
static int open_link(const char *link, ino_t inode, struct stat *st)
{
	int fd, found = open(link, O_PATH | O_CLOEXEC);

	if (found < 0)
		return -errno;
	fd = open_found(found, st);
	if (fd < 0 || st->st_ino == inode)
		return fd;
	close(fd);
	return -ESTALE;
}

struct name_in_maps {
	const char *at; /* not terminated */
	size_t len;
};

/*
 * Finds where in memory the file is mapped, as map_files has it, "START-END", and the
 * name there. Device 0 stands for all file systems without a block device.
 */
static int find_mapping(const char *maps, dev_t device, ino_t inode, char out[40],
			struct name_in_maps *name)
{
	const char *next;

	for (const char *line = maps; *line; line = next) {
		unsigned long long start, end, ino;
		unsigned int major_nr, minor_nr;
		const char *line_end = line + strcspn(line, "\n");
		int at;

		next = line_end + (*line_end != '\0');
		if (sscanf(line, "%llx-%llx %*s %*x %x:%x %llu%n", &start, &end,
			   &major_nr, &minor_nr, &ino, &at) != 5 ||
		    ino != inode ||
		    (device ? makedev(major_nr, minor_nr) != device : major_nr != 0))
			continue;
		snprintf(out, 40, "%llx-%llx", start, end);
		name->at = line + at + strspn(line + at, " ");
		name->len = (size_t)(line_end - name->at);
		return 0;
	}
	return -ENOENT;
}

static bool is_link_to(const char *link, const struct name_in_maps *name)
{
	char target[PATH_MAX];
	const ssize_t len = readlink(link, target, sizeof(target));

	return len > 0 && (size_t)len == name->len && !memcmp(target, name->at, len);
}

/* As open_link(), if the file is on an overlay. */
static int open_overlaid(const char *link, ino_t inode, struct stat *st)
{
	int fd = open_link(link, inode, st);
	struct statfs fs;

	if (fd < 0 || (!fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC))
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * The executable is told by its name in the maps. Its inode alone is not enough,
 * because a file on another device may have the same one. Its device is not, because
 * Btrfs and overlayfs report another one than the maps have.
 */
int procroot_open_mapped(pid_t tgid, dev_t device, ino_t inode, struct stat *st)
{
	char path[128], exe[32], where[40];
	struct name_in_maps name;
	struct buf maps = { 0 };
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tgid);
	fd = file_read_all(AT_FDCWD, path, MAPS_MAX_BYTES, &maps);
	if (!fd)
		fd = find_mapping(buf_str(&maps), device, inode, where, &name);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)tgid);
	if (!fd) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%s", (int)tgid, where);
		fd = open_link(is_link_to(exe, &name) ? exe : path, inode, st);
	} else if (fd == -ENOENT && major(device) &&
		   !find_mapping(buf_str(&maps), 0, inode, where, &name) &&
		   is_link_to(exe, &name)) {
		/*
		 * Linux 6.7 to 6.17: perf's records have the device of the file below
		 * an overlay, and the maps have the overlay's.
		 */
		fd = open_overlaid(exe, inode, st);
	}
	buf_fini(&maps);
	return fd;
}

/* Opens our own root only to see whether the kernel knows RESOLVE_CACHED. */
bool procroot_can_peek(void)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_CACHED,
	};
	int fd = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EAGAIN;
}

/*
 * Before Linux 5.12 the kernel cannot restrict a look-up to cached data, so the file
 * system may be asked.
 */
static int find_cached(int root, const char *path)
{
	int fd = find_below(root, path, RESOLVE_CACHED);

	return fd == -EINVAL ? find_below(root, path, 0) : fd;
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

/* An absolute path below our own root needs no descriptor of it. */
static int find_own(const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED,
	};
	int fd;

	if (*path != '/')
		return -EINVAL;
	fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

static int find_in_root(pid_t tgid, const char *path)
{
	int fd, root = open_root(tgid);

	if (root < 0)
		return root;
	fd = find_cached(root, path);
	close(root);
	return fd;
}

int procroot_peek(pid_t tgid, const char *path, struct stat *st)
{
	int fd = tgid ? -EINVAL : find_own(path), err = 0;
	struct statx sx;

	if (fd == -EINVAL || fd == -ENOSYS)
		fd = find_in_root(tgid, path);
	if (fd < 0)
		return fd;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx))
		err = -errno;
	else
		take_stat(&sx, st);
	close(fd);
	return err;
}

/* The owner of /proc/PID is the process's effective user. */
int procowner_uid(uint32_t tgid, uint32_t *uid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", tgid);
	if (stat(path, &st))
		return -errno;
	*uid = st.st_uid;
	return 0;
}
