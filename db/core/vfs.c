/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfs.c - a copy of SQLite's default VFS with another xOpen
 *
 * Tests make another VFS the default. So there is a copy of each; SQLite's list of VFSs
 * keeps them.
 */
#include "config.h"

#include "db/core/vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copy {
	sqlite3_vfs vfs; /* first */
	sqlite3_vfs *original;
	char name[32];
};

static int open_nonblocking(const char *path, int flags, int mode)
{
	return open(path, flags | O_NONBLOCK, mode);
}

static int open_allowed(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
			int flags, int *opened)
{
	sqlite3_vfs *original = ((struct copy *)vfs)->original;

	file->pMethods = NULL;
	if (flags & SQLITE_OPEN_SUPER_JOURNAL)
		return SQLITE_CANTOPEN;
	return original->xOpen(original, name, file, flags, opened);
}

static struct copy *make_copy(sqlite3_vfs *original)
{
	struct copy *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	snprintf(c->name, sizeof(c->name), "cpi-%s", original->zName);
	c->original = original;
	c->vfs = *original;
	c->vfs.pNext = NULL;
	c->vfs.zName = c->name;
	c->vfs.xOpen = open_allowed;
	if (original->iVersion >= 3 && original->xSetSystemCall)
		original->xSetSystemCall(original, "open",
					 (sqlite3_syscall_ptr)open_nonblocking);
	return c;
}

const char *vfs_name(void)
{
	sqlite3_vfs *original = sqlite3_vfs_find(NULL), *known;
	struct copy *c;
	char name[32];

	if (!original)
		return NULL;
	snprintf(name, sizeof(name), "cpi-%s", original->zName);
	known = sqlite3_vfs_find(name);
	if (known)
		return known->zName;
	c = make_copy(original);
	if (c && sqlite3_vfs_register(&c->vfs, 0) != SQLITE_OK) {
		free(c);
		c = NULL;
	}
	return c ? c->name : NULL;
}
