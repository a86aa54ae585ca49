/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registration.c - compares the memory of a process with a file that the client has
 * open
 *
 * A worker opens and compares both, because either may block. It checks before and
 * after opening that the client is still a process of the same user, because its
 * process id may have been reused in between.
 */
#include "config.h"

#include "daemon/mappings/registration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "daemon/mappings/procscan.h"
#include "daemon/os/procroot.h"
#include "daemon/os/timed_child.h"
#include "daemon/procmap/kernel.h"

#define CHUNK_SIZE 65536

/* The question. */
struct comparison {
	pid_t tgid, asker;
	uid_t uid;
	int file;
	uint64_t base, size, offset;
};

/* Returns 0, -ESTALE if they differ, or another error. */
static int compare(int memory_fd, int file_fd, const struct comparison *c)
{
	char memory[CHUNK_SIZE], file[CHUNK_SIZE];
	uint64_t done = 0;

	while (done < c->size) {
		size_t n = c->size - done < CHUNK_SIZE ? c->size - done : CHUNK_SIZE;
		int err = file_pread(memory_fd, memory, n, (off_t)(c->base + done));

		if (!err)
			err = file_pread(file_fd, file, n, (off_t)(c->offset + done));
		if (err)
			return err;
		if (memcmp(memory, file, n))
			return -ESTALE;
		done += n;
	}
	return 0;
}

/* What identifies a file that holds the bytes of the memory. */
struct verified {
	dev_t device;
	ino_t inode;
};

/* Whether the user owns the process; root owns all. */
static bool is_of(pid_t tgid, uid_t uid)
{
	uint32_t owner;

	return !uid || (!procowner_uid((uint32_t)tgid, &owner) && owner == uid);
}

/*
 * The file that the client has open. The owner of the client's process is checked
 * twice, because the process id may be reused in between.
 */
static int open_file(const struct comparison *c, struct stat *st)
{
	int fd;

	if (!is_of(c->asker, c->uid))
		return -EACCES;
	fd = procroot_open_descriptor(c->asker, c->file, st);
	if (fd < 0 || is_of(c->asker, c->uid))
		return fd;
	close(fd);
	return -EACCES;
}

/* In the worker. */
static int compare_apart(struct timed_child_job *job)
{
	const struct comparison *c = job->question;
	int memory_fd = -1, file_fd, err;
	struct verified v;
	struct stat st;
	char path[64];

	file_fd = open_file(c, &st);
	if (file_fd < 0)
		return file_fd;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)c->tgid);
	memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	err = memory_fd < 0 ? -errno : compare(memory_fd, file_fd, c);
	v = (struct verified){ st.st_dev, st.st_ino };
	buf_put(&job->answer, &v, sizeof(v));
	if (memory_fd >= 0)
		close(memory_fd);
	close(file_fd);
	return err;
}

static int verify(const struct registration *r, struct timed_child *timed_child,
		  struct verified *out, struct buf *text)
{
	const struct comparison c = { .tgid = r->tgid,
				      .asker = r->asker,
				      .uid = r->uid,
				      .file = r->file,
				      .base = r->base,
				      .size = r->size,
				      .offset = r->offset };
	const struct timed_child_question q = {
		.fn = compare_apart, .data = &c, .size = sizeof(c), .tgid = r->tgid
	};
	int err = timed_child_ask_for(timed_child, &q, out, sizeof(*out));

	if (err == -ESTALE)
		buf_printf(text,
			   "the memory of process %d at %#llx is not what %s has at "
			   "%#llx\n",
			   (int)r->tgid, (unsigned long long)r->base, r->path,
			   (unsigned long long)r->offset);
	else if (err)
		buf_printf(text, "cannot compare process %d with %s: %s\n",
			   (int)r->tgid, r->path, err_str(err));
	return err;
}

/* Whether the whole range is executable. */
static int check_executable(const struct registration *r, struct images *im,
			    struct buf *text)
{
	char comm[PROCMAP_COMM_SIZE];
	struct rangemap found = { 0 };
	uint64_t at = r->base, end = r->base + r->size;
	int err = procscan_read(im, r->tgid, comm, &found);

	while (!err && at < end) {
		const struct range *mapped = rangemap_find(&found, at);

		if (!mapped)
			err = -EFAULT;
		else
			at = mapped->end;
	}
	if (err)
		buf_printf(text, "process %d at %#llx: %s\n", (int)r->tgid,
			   (unsigned long long)at,
			   err == -EFAULT ? "nothing executable is mapped there"
					  : err_str(err));
	rangemap_fini(&found);
	return err;
}

int registration_check(const struct registration *r, struct buf *text)
{
	uint32_t owner;

	if (r->tgid <= 0 || procowner_uid((uint32_t)r->tgid, &owner)) {
		buf_printf(text, "there is no process %d\n", (int)r->tgid);
		return -ESRCH;
	}
	if (r->uid && owner != r->uid) {
		buf_printf(text, "process %d is not yours\n", (int)r->tgid);
		return -EPERM;
	}
	if (!*r->path)
		return 0;
	if (r->path[0] != '/' || !r->size || r->size > REGISTRATION_MAX ||
	    r->base > UINT64_MAX - r->size || kernel_address(r->base + r->size) ||
	    r->offset > INT64_MAX - r->size) {
		buf_printf(text,
			   "the range must have 1 to %u bytes of user memory, and "
			   "the file's path must begin with /\n",
			   REGISTRATION_MAX);
		return -EINVAL;
	}
	return 0;
}

static int read_again(const struct registration *r, struct procmap *pm,
		      struct images *im, struct buf *text)
{
	int err = procscan_one(pm, im, r->tgid);

	if (err)
		buf_printf(text, "process %d: %s\n", (int)r->tgid, err_str(err));
	return err;
}

int registration_take(const struct registration *r, uint64_t since_ns,
		      struct procmap *pm, struct images *im, struct buf *text)
{
	struct image_source source = { 0 };
	struct range range = { .start = r->base,
			       .end = r->base + r->size,
			       .bias = r->offset - r->base,
			       .since = since_ns };
	struct verified file;
	int err = registration_check(r, text);

	if (err)
		return err;
	if (!*r->path)
		return read_again(r, pm, im, text);
	err = check_executable(r, im, text);
	if (!err)
		err = verify(r, images_timed_child(im), &file, text);
	if (!err && !procmap_find(pm, (uint32_t)r->tgid, 0, UINT64_MAX))
		err = read_again(r, pm, im, text);
	if (err)
		return err;
	source.device = file.device;
	source.inode = file.inode;
	range.value = images_get(im, r->path, &source);
	if (!range.value)
		return -ENOMEM;
	procmap_map(pm, (uint32_t)r->tgid, &range);
	return 0;
}
