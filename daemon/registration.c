/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another process's memory, or a file of its choice, may be read for as long as that
 * process likes (userfaultfd, FUSE). So a child compares them; it is killed when it
 * has the answer, or has had its time.
 *
 * Whether bytes are equal tells what they are, in time. So the file has to be one
 * that the asker may read.
 */
#include "config.h"

#include "daemon/registration.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/kernel.h"
#include "daemon/procscan.h"

#define PATIENCE_MS 500
#define CHUNK_SIZE  65536

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

/* What the child has to say, or -ETIMEDOUT. */
static int await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end_ns = time_mono_ns() + PATIENCE_MS * NSEC_PER_MSEC, now_ns;
	int said;

	while ((now_ns = time_mono_ns()) < end_ns) {
		if (poll(&p, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1) > 0)
			return read(fd, &said, sizeof(said)) == sizeof(said) ? said
									     : -EIO;
	}
	return -ETIMEDOUT;
}

static int compare_in_child(int memory_fd, int file_fd, const struct registration *r)
{
	int fd[2], err;
	pid_t child;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child < 0) {
		err = -errno;
		goto out;
	}
	if (!child) {
		err = compare(memory_fd, file_fd, r);
		(void)!write(fd[1], &err, sizeof(err));
		for (;;)
			pause();
	}
	err = await(fd[0]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
out:
	close(fd[0]);
	close(fd[1]);
	return err;
}

static int open_file(const struct registration *r, struct stat *st)
{
	char root[64];
	int rootfd, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)r->tgid);
	rootfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rootfd < 0)
		return -errno;
	fd = file_open_in_root(rootfd, r->path, st);
	close(rootfd);
	if (fd >= 0 && r->uid && st->st_uid != r->uid && !(st->st_mode & S_IROTH)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

static int verify(const struct registration *r, struct stat *st, struct buf *text)
{
	char path[64];
	int memory_fd, file_fd, err;

	file_fd = open_file(r, st);
	if (file_fd < 0) {
		buf_printf(text, "%s: %s\n", r->path, err_str(file_fd));
		return file_fd;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)r->tgid);
	memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	err = memory_fd < 0 ? -errno : compare_in_child(memory_fd, file_fd, r);
	if (err == -ESTALE)
		buf_printf(text,
			   "the memory of process %d at %#llx is not what %s has at "
			   "%#llx\n",
			   (int)r->tgid, (unsigned long long)r->base, r->path,
			   (unsigned long long)r->offset);
	else if (err)
		buf_printf(text, "cannot compare process %d with %s: %s\n",
			   (int)r->tgid, r->path, err_str(err));
	if (memory_fd >= 0)
		close(memory_fd);
	close(file_fd);
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
	struct stat st;
	int err = check_request(r, text);

	if (err)
		return err;
	if (!*r->path)
		return read_again(r, pm, im, text);
	err = check_executable(r, im, text);
	if (!err)
		err = verify(r, &st, text);
	if (!err && !procmap_find(pm, (uint32_t)r->tgid, 0, UINT64_MAX))
		err = read_again(r, pm, im, text);
	if (err)
		return err;
	source.device = st.st_dev;
	source.inode = st.st_ino;
	range.value = images_get(im, r->path, &source);
	if (!range.value)
		return -ENOMEM;
	procmap_map(pm, (uint32_t)r->tgid, &range);
	return 0;
}
