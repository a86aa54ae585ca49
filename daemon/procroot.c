/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/procroot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define MOUNTINFO_MAX_BYTES (4u << 20)
#define MAPS_MAX_BYTES      (16u << 20)

/* Those that ask somebody; "fuse" and the like also with a subtype behind a dot. */
static bool may_not_answer(const char *type, size_t len)
{
	static const char *const types[] = {
		"9p",   "afs",     "autofs", "ceph", "cifs", "coda",
		"fuse", "fuseblk", "ncpfs",  "nfs",  "nfs4", "smb3",
	};
	const char *dot = memchr(type, '.', len);

	if (dot)
		len = dot - type;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i]) == len && !memcmp(types[i], type, len))
			return true;
	}
	return false;
}

static bool is_octal(const char *p)
{
	return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' &&
	       p[2] >= '0' && p[2] <= '7';
}

/* Whether path is the mount point or below it; blanks in it are "\040" and the like. */
static bool is_below(const char *point, const char *path)
{
	char last = '\0';

	while (*point && *point != ' ') {
		char c = *point++;

		if (c == '\\' && is_octal(point)) {
			c = (point[0] - '0') << 6 | (point[1] - '0') << 3 |
			    (point[2] - '0');
			point += 3;
		}
		if (c != *path++)
			return false;
		last = c;
	}
	return last == '/' || !*path || *path == '/';
}

/* The field behind the next blank; "" at the end. */
static const char *next_field(const char *p)
{
	p += strcspn(p, " \n");
	return *p == ' ' ? p + 1 : "";
}

bool procroot_is_remote(const char *mountinfo, const char *path)
{
	const char *next;

	for (const char *line = mountinfo; *line; line = next) {
		const char *point = line, *type;

		next = line + strcspn(line, "\n");
		if (*next)
			next++;
		for (int i = 0; i < 4; i++)
			point = next_field(point);
		type = strstr(point, " - ");
		if (!*point || !type || type >= next)
			continue;
		type += 3;
		if (may_not_answer(type, strcspn(type, " \n")) && is_below(point, path))
			return true;
	}
	return false;
}

int procroot_open(pid_t tgid, const char *path, struct stat *st)
{
	struct buf mounts = { 0 };
	char proc[64];
	int root, fd;

	if (tgid)
		snprintf(proc, sizeof(proc), "/proc/%d/mountinfo", (int)tgid);
	fd = file_read_all(AT_FDCWD, tgid ? proc : "/proc/self/mountinfo",
			   MOUNTINFO_MAX_BYTES, &mounts);
	if (!fd && procroot_is_remote(buf_str(&mounts), path))
		fd = -EREMOTE;
	buf_fini(&mounts);
	if (fd)
		return fd;
	if (tgid)
		snprintf(proc, sizeof(proc), "/proc/%d/root", (int)tgid);
	root = open(tgid ? proc : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = file_open_in_root(root, path, st);
	close(root);
	return fd;
}

/*
 * Opens what a link in /proc leads to, if it is the regular file wanted: only then is
 * it opened for more than a look, for a device may mind.
 */
static int open_link(const char *link, ino_t inode, struct stat *st)
{
	int fd, found = open(link, O_PATH | O_CLOEXEC);
	char self[64];

	if (found < 0)
		return -errno;
	if (fstat(found, st))
		fd = -errno;
	else if (st->st_ino != inode || !S_ISREG(st->st_mode))
		fd = -ESTALE;
	else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(found);
	return fd;
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

int procroot_open_mapped(pid_t tgid, dev_t device, ino_t inode, struct stat *st)
{
	char path[128], where[40];
	struct buf maps = { 0 };
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tgid);
	fd = open_link(path, inode, st);
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
	return open_link(path, inode, st);
}
