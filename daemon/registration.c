/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory and file are another's, and compared in a process apart.
 *
 * Whether bytes are equal tells what they are, in time. So the file has to be one
 * that the asker may read.
 */
#include "config.h"

#include "daemon/registration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "daemon/apart.h"
#include "daemon/kernel.h"
#include "daemon/procroot.h"
#include "daemon/procscan.h"

#define CHUNK_SIZE 65536

/* 0, or -ESTALE when they differ, or another error. */
static int compare(int memory_fd, int file_fd, const struct registration *r)
{
	char memory[CHUNK_SIZE], file[CHUNK_SIZE];
	uint64_t done = 0;

	while (done < r->size) {
		size_t n = r->size - done < CHUNK_SIZE ? r->size - done : CHUNK_SIZE;
		int err = file_pread(memory_fd, memory, n, (off_t)(r->base + done));

		if (!err)
			err = file_pread(file_fd, file, n, (off_t)(r->offset + done));
		if (err)
			return err;
		if (memcmp(memory, file, n))
			return -ESTALE;
		done += n;
	}
	return 0;
}

/* Opens the file, which has to be one that the asker may read. */
static int open_file(const struct registration *r, struct stat *st)
{
	int fd = procroot_open(r->tgid, r->path, PROCROOT_MAY_WAIT, st);

	if (fd >= 0 && r->uid && st->st_uid != r->uid && !(st->st_mode & S_IROTH)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

/* The numbers of a file that has what the memory has. */
struct verified {
	dev_t device;
	ino_t inode;
};

static int compare_apart(void *ctx, void *answer)
{
	const struct registration *r = ctx;
	struct verified *v = answer;
	int memory_fd = -1, file_fd, err;
	struct stat st;
	char path[64];

	file_fd = open_file(r, &st);
	if (file_fd < 0)
		return file_fd;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)r->tgid);
	memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	err = memory_fd < 0 ? -errno : compare(memory_fd, file_fd, r);
	*v = (struct verified){ st.st_dev, st.st_ino };
	return err;
}

static int verify(const struct registration *r, struct apart *apart,
		  struct verified *out, struct buf *text)
{
	struct registration asked = *r;
	int err = apart_run(apart, compare_apart, &asked, out, sizeof(*out));

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

/* Whether code may run in all of it. */
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

/* Asks for no more than there can be, of a process of the asker's. */
static int check_request(const struct registration *r, struct buf *text)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)r->tgid);
	if (r->tgid <= 0 || stat(path, &st) < 0) {
		buf_printf(text, "there is no process %d\n", (int)r->tgid);
		return -ESRCH;
	}
	if (r->uid && st.st_uid != r->uid) {
		buf_printf(text, "process %d is not yours\n", (int)r->tgid);
		return -EPERM;
	}
	if (!*r->path)
		return 0;
	if (r->path[0] != '/' || !r->size || r->size > REGISTRATION_MAX ||
	    r->base > UINT64_MAX - r->size || kernel_address(r->base + r->size) ||
	    r->offset > INT64_MAX - r->size) {
		buf_printf(text,
			   "a range has 1 to %u bytes of user memory, and a file's "
			   "whole path\n",
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
	int err = check_request(r, text);

	if (err)
		return err;
	if (!*r->path)
		return read_again(r, pm, im, text);
	err = check_executable(r, im, text);
	if (!err)
		err = verify(r, images_apart(im), &file, text);
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
