/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagefile.c - lets a timed child find and read the file of an image
 *
 * A file is looked for by its name below the root of its process, then by its name
 * below our root, and last through the mapping itself, which also works for files
 * without a name. It is accepted only if its inode is the mapped one.
 *
 * The functions in the section "in the worker" run in the worker, all others in the
 * daemon.
 */
#include "config.h"

#include "daemon/procmap/imagefile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fdpass.h"
#include "daemon/os/procroot.h"

#define MAX_READ 65536u

/* Returns the size of f up to the end of its name; the rest is not sent. */
static size_t size_of(const struct imagefile *f)
{
	return offsetof(struct imagefile, name) + strlen(f->name) + 1;
}

int64_t imagefile_author(const struct stat *st)
{
	if (st->st_mode & S_IWOTH ||
	    (st->st_mode & S_IWGRP && st->st_gid != st->st_uid))
		return -1;
	return st->st_uid;
}

/* ---- in the worker ---- */

/* Returns the file in a question, or NULL if the question is malformed. */
static const struct imagefile *asked(const void *question, size_t size)
{
	const struct imagefile *f = question;
	const size_t head = offsetof(struct imagefile, name);

	return size > head && memchr(f->name, '\0', size - head) ? f : NULL;
}

/*
 * Checks that fd is the mapped file, and reads its build id and hash. Closes fd.
 * Returns 0 or -errno.
 */
static int read_file(const struct imagefile *f, int fd, struct imagefile_found *found,
		     struct openfiles *files)
{
	struct file_identity id;
	int err;

	if (fd < 0)
		return fd;
	/*
	 * The device is not compared, because Btrfs and overlayfs report another one.
	 */
	err = f->inode == found->st.st_ino ? elfid_read(fd, &found->id) : -ESTALE;
	if (!err) {
		id = file_identity_of(&found->st);
		openfiles_keep(files, &id, fd);
	}
	close(fd);
	return err;
}

static int find_at(const struct imagefile *f, pid_t place_tgid,
		   struct imagefile_found *found, struct openfiles *files)
{
	int fd = procroot_open(place_tgid, f->name, &found->st);

	found->has_name = true;
	found->place_tgid = place_tgid;
	return read_file(f, fd, found, files);
}

/* Finds a file that has no name any more, or whose name now belongs to another file. */
static int find_mapped(const struct imagefile *f, struct imagefile_found *found,
		       struct openfiles *files)
{
	int fd = procroot_open_mapped(f->tgid, f->device, f->inode, &found->st);

	found->has_name = false;
	return read_file(f, fd, found, files);
}

static int identify(struct timed_child_job *job)
{
	const struct imagefile *f = asked(job->question, job->size);
	struct imagefile_found found = { 0 };
	bool is_ours;
	int err = -ENOENT;

	if (!f)
		return -EINVAL;
	is_ours = procroot_is_ours(f->tgid);
	if (!is_ours)
		err = find_at(f, f->tgid, &found, job->files);
	if (err)
		err = find_at(f, 0, &found, job->files);
	if (err && is_ours)
		err = find_at(f, f->tgid, &found,
			      job->files); /* something is mounted over "/" */
	if (err)
		err = find_mapped(f, &found, job->files);
	if (!err)
		buf_put(&job->answer, &found, sizeof(found));
	return err;
}

/*
 * Returns fd if it is the file that was identified. Otherwise closes it and returns
 * -ESTALE.
 */
static int keep_same(const struct imagefile *f, int fd, const struct stat *st)
{
	const struct file_identity now = file_identity_of(st);

	if (file_identity_same(&now, &f->identity))
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_by_name(const struct imagefile *f)
{
	struct stat st;
	int fd;

	if (!f->has_place)
		return -ENOENT;
	fd = procroot_open(f->place_tgid, f->name, &st);
	return fd < 0 ? fd : keep_same(f, fd, &st);
}

int imagefile_open(struct openfiles *files, const struct imagefile *f)
{
	struct stat st;
	int fd = f->is_known ? openfiles_find(files, &f->identity) : -ENOENT;

	if (fd >= 0)
		return fd;
	fd = open_by_name(f);
	if (fd >= 0 || !f->tgid)
		return fd;
	fd = procroot_open_mapped(f->tgid, f->device, f->inode, &st);
	return fd < 0 ? fd : keep_same(f, fd, &st);
}

/* Opens the file, and keeps it open for the next read. */
static int open_kept(struct openfiles *files, const struct imagefile *f)
{
	int fd = openfiles_find(files, &f->identity);

	if (fd >= 0)
		return fd;
	fd = imagefile_open(files, f);
	if (fd >= 0)
		openfiles_keep(files, &f->identity, fd);
	return fd;
}

struct hashed_piece {
	uint64_t at;
	uint32_t size;
	uint32_t reserved;
};

struct read_question {
	struct hashed_piece piece;
	struct imagefile file; /* last, because the end of its name is not sent */
};

static int read_piece(struct timed_child_job *job)
{
	const struct read_question *q = job->question;
	const size_t before = offsetof(struct read_question, file);
	const struct imagefile *f;
	ssize_t got;
	char *to;
	int fd;

	f = job->size > before ? asked(&q->file, job->size - before) : NULL;
	if (!f || q->piece.size > MAX_READ)
		return -EINVAL;
	fd = open_kept(job->files, f);
	if (fd < 0)
		return fd;
	to = buf_reserve(&job->answer, q->piece.size);
	got = to ? pread(fd, to, q->piece.size, (off_t)q->piece.at) : 0;
	got = got < 0 ? -errno : got;
	close(fd);
	if (!to || got < 0)
		return to ? (int)got : -ENOMEM;
	job->answer.len += (size_t)got;
	return 0;
}

/*
 * Sends the file's descriptor over the socket that came with the question. The
 * helper that reads the file receives it there.
 */
static int send_file(struct timed_child_job *job)
{
	const struct imagefile *f = asked(job->question, job->size);
	int fd = f ? imagefile_open(job->files, f) : -EINVAL;
	int err = fd < 0 ? fd : fdpass_send(job->fd, "", 1, &fd, 1);

	if (fd >= 0)
		close(fd);
	close(job->fd);
	return err;
}

static int check_place(struct timed_child_job *job)
{
	const struct imagefile *f = asked(job->question, job->size);
	int fd = f ? open_by_name(f) : -EINVAL;

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int look_at_file(struct timed_child_job *job)
{
	const struct imagefile *f = asked(job->question, job->size);
	struct stat st;
	int err = f ? procroot_peek(f->place_tgid, f->name, &st) : -EINVAL;

	if (!err)
		buf_put(&job->answer, &st, sizeof(st));
	return err;
}

static int prune(struct timed_child_job *job)
{
	openfiles_prune(job->files);
	return 0;
}

/* ---- in the daemon ---- */

static struct timed_child_question question_of(timed_child_fn fn,
					       const struct imagefile *f)
{
	return (struct timed_child_question){ .fn = fn,
					      .data = f,
					      .size = size_of(f),
					      .tgid = f->tgid ? f->tgid
							      : f->place_tgid };
}

int imagefile_identify(struct timed_child *a, const struct imagefile *f,
		       struct imagefile_found *out)
{
	const struct timed_child_question q = question_of(identify, f);

	return timed_child_ask_for(a, &q, out, sizeof(*out));
}

ssize_t imagefile_read(struct timed_child *a, const struct imagefile *f, uint64_t at,
		       void *to, size_t size)
{
	struct read_question asked = { { at, (uint32_t)size, 0 }, *f };
	struct timed_child_question q = question_of(read_piece, f);
	struct buf answer = { 0 };
	ssize_t n;

	q.data = &asked;
	q.size = offsetof(struct read_question, file) + size_of(f);
	n = timed_child_ask(a, &q, &answer);
	if (!n && answer.len <= size) {
		n = (ssize_t)answer.len;
		if (n)
			memcpy(to, answer.data, answer.len);
	}
	buf_fini(&answer);
	return n;
}

int imagefile_wrap(struct timed_child *a, const struct imagefile *f)
{
	struct timed_child_question q = question_of(send_file, f);
	int other, err, fd = fdpass_wrap(&other);

	if (fd < 0)
		return fd;
	q.fd = &other;
	err = timed_child_ask(a, &q, NULL);
	close(other);
	if (!err)
		return fd;
	timed_child_dispose(a, fd);
	return err;
}

bool imagefile_stays(struct timed_child *a, const struct imagefile *f)
{
	const struct timed_child_question q = question_of(check_place, f);

	return f->has_place && !f->place_tgid && !timed_child_ask(a, &q, NULL);
}

int imagefile_look(struct timed_child *a, const struct imagefile *f, struct stat *st)
{
	const struct timed_child_question q = question_of(look_at_file, f);

	return timed_child_ask_for(a, &q, st, sizeof(*st));
}

void imagefile_prune(struct timed_child *a)
{
	const struct timed_child_question q = { .fn = prune };

	timed_child_ask(a, &q, NULL);
}
