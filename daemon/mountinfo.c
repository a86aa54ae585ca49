/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/mountinfo.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

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

struct mount_line {
	int id;
	dev_t device;
	enum mountinfo_kind kind;
};

/* Reads the line at text; false when it is not whole. */
static bool parse_line(const char *text, struct mount_line *out)
{
	const char *end = text + strcspn(text, "\n"), *type = strstr(text, " - ");
	unsigned int major_nr, minor_nr;
	size_t len;
	int id;

	if (sscanf(text, "%d %*d %u:%u", &id, &major_nr, &minor_nr) != 3 || !type ||
	    type >= end)
		return false;
	type += 3;
	len = strcspn(type, " \n");
	*out = (struct mount_line){ id, makedev(major_nr, minor_nr), MOUNTINFO_LOCAL };
	if (may_not_answer(type, len))
		out->kind = MOUNTINFO_REMOTE;
	else if (len == 7 && !memcmp(type, "overlay", len))
		out->kind = MOUNTINFO_OVERLAY;
	return true;
}

/* By number, or, when that is negative, by device. */
static enum mountinfo_kind find(const char *text, int mount_id, dev_t device)
{
	enum mountinfo_kind found = MOUNTINFO_NONE;
	struct mount_line line;
	const char *next;

	for (; *text; text = next) {
		next = text + strcspn(text, "\n");
		if (*next)
			next++;
		if (parse_line(text, &line) &&
		    (mount_id < 0 ? line.device == device : line.id == mount_id))
			found = line.kind;
	}
	return found;
}

enum mountinfo_kind mountinfo_find_mount(const char *text, int mount_id)
{
	return mount_id < 0 ? MOUNTINFO_NONE : find(text, mount_id, 0);
}

enum mountinfo_kind mountinfo_find_device(const char *text, dev_t device)
{
	return find(text, -1, device);
}
