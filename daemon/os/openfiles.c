/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * openfiles.c - the files that a worker keeps open for a while
 *
 * There are few slots, so they are searched one by one.
 */
#include "config.h"

#include "daemon/os/openfiles.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fdpass.h"
#include "base/times.h"

struct kept {
	struct file_identity id;
	int socket; /* has the file; -1: free */
	uint64_t used_ns;
};

struct openfiles {
	struct kept kept[OPENFILES_MAX];
};

struct file_identity file_identity_of(const struct stat *st)
{
	return (struct file_identity){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = time_to_ns(&st->st_mtim),
	};
}

bool file_identity_same(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

struct openfiles *openfiles_new(void)
{
	struct openfiles *o = calloc(1, sizeof(*o));

	for (int i = 0; o && i < OPENFILES_MAX; i++)
		o->kept[i].socket = -1;
	return o;
}

static void drop(struct kept *k)
{
	if (k->socket >= 0)
		close(k->socket);
	k->socket = -1;
}

void openfiles_free(struct openfiles *o)
{
	for (int i = 0; o && i < OPENFILES_MAX; i++)
		drop(&o->kept[i]);
	free(o);
}

static bool is_unchanged(int fd, const struct file_identity *id)
{
	struct file_identity now;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	now = file_identity_of(&st);
	return file_identity_same(&now, id);
}

int openfiles_find(struct openfiles *o, const struct file_identity *id)
{
	for (int i = 0; i < OPENFILES_MAX; i++) {
		struct kept *k = &o->kept[i];
		int fd;

		if (k->socket < 0 || !file_identity_same(&k->id, id))
			continue;
		fd = fdpass_peek(k->socket);
		if (fd >= 0 && is_unchanged(fd, id)) {
			k->used_ns = time_mono_ns();
			return fd;
		}
		drop(k);
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/* A socket with the file in it, or -errno. */
static int wrap(int fd)
{
	int other, socket = fdpass_wrap(&other), err;

	if (socket < 0)
		return socket;
	err = fdpass_send(other, "", 1, &fd, 1);
	close(other);
	if (!err)
		return socket;
	close(socket);
	return err;
}

void openfiles_keep(struct openfiles *o, const struct file_identity *id, int fd)
{
	struct kept *place = &o->kept[0];
	const int socket = wrap(fd);

	if (socket < 0)
		return;
	for (int i = 0; i < OPENFILES_MAX; i++) {
		struct kept *k = &o->kept[i];

		if (k->socket < 0 ||
		    (place->socket >= 0 && k->used_ns < place->used_ns))
			place = k;
	}
	drop(place);
	*place = (struct kept){ *id, socket, time_mono_ns() };
}

int openfiles_prune(struct openfiles *o)
{
	const uint64_t now = time_mono_ns();
	int nr = 0;

	for (int i = 0; i < OPENFILES_MAX; i++) {
		struct kept *k = &o->kept[i];

		if (k->socket >= 0 && now - k->used_ns >= OPENFILES_NS)
			drop(k);
		nr += k->socket >= 0;
	}
	return nr;
}
