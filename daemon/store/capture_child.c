/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_child.c - the client side of cpi-capture, one job at a time
 *
 * The request is in a memory file, and the reply comes through a pipe. The helper gets
 * the descriptors of the image, the request and the pipe's write end in one message.
 * The pipe is read without blocking, up to the maximum size of the reply. A job without
 * a reply in time fails.
 */
#include "config.h"

#include "daemon/store/capture_child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fdpass.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/os/helper.h"

#define NAME       "cpi-capture"
#define PATIENCE_S 330       /* longer than cpi-capture waits for its worker */
#define READ_BYTES (1 << 18) /* per read */

int capture_child_start(struct capture_child *c)
{
	return helper_start(NAME, &c->pid, &c->socket);
}

static void end_job(struct capture_child *c)
{
	if (c->reply >= 0)
		close(c->reply);
	c->reply = -1;
}

void capture_child_stop(struct capture_child *c)
{
	end_job(c);
	buf_fini(&c->got);
	helper_stop(&c->pid, &c->socket);
}

/*
 * Returns a descriptor of a new memory file with the request and its offsets, or
 * -errno.
 */
static int write_request(const struct cpi_capture_request *request,
			 const struct cpi_capture_offset *offset)
{
	int fd = memfd_create(NAME, MFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = file_write(fd, request, sizeof(*request));
	if (!err)
		err = file_write(fd, offset, request->nr_offsets * sizeof(*offset));
	if (!err)
		return fd;
	close(fd);
	return err;
}

int capture_child_send(struct capture_child *c,
		       const struct cpi_capture_request *request,
		       const struct cpi_capture_offset *offset, int image)
{
	int fds[CPI_CAPTURE_NR_FDS] = { -1, image, -1 };
	int pipe_fd[2], err;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return -errno;
	fds[CPI_CAPTURE_REPLY] = pipe_fd[1];
	fds[CPI_CAPTURE_REQUEST] = write_request(request, offset);
	err = fds[CPI_CAPTURE_REQUEST] < 0 ? fds[CPI_CAPTURE_REQUEST] : 0;
	if (!err && fcntl(pipe_fd[0], F_SETFL, O_NONBLOCK) < 0)
		err = -errno;
	if (!err)
		err = fdpass_send(c->socket, "", 1, fds, CPI_CAPTURE_NR_FDS);
	if (fds[CPI_CAPTURE_REQUEST] >= 0)
		close(fds[CPI_CAPTURE_REQUEST]);
	close(pipe_fd[1]);
	if (err) {
		close(pipe_fd[0]);
		if (err == -EPIPE)
			capture_child_stop(c);
		return err;
	}
	c->reply = pipe_fd[0];
	buf_reset(&c->got);
	c->max = sizeof(struct cpi_capture_reply) + CPI_CAPTURE_COVERS +
		 request->max_bytes + 1;
	c->end_ns = time_mono_ns() + PATIENCE_S * NSEC_PER_SEC;
	return 0;
}

/*
 * Reads once from the pipe. Returns 0 at its end, -EAGAIN if more is to come, or
 * another -errno.
 */
static int read_some(struct capture_child *c)
{
	void *to = buf_reserve(&c->got, READ_BYTES);
	ssize_t n;

	if (!to)
		return -ENOMEM;
	n = read(c->reply, to, READ_BYTES);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (n > 0)
		c->got.len += n;
	if (c->got.len > c->max)
		return -CPI_ELIMIT;
	if (n == 0)
		return 0;
	return time_mono_ns() < c->end_ns ? -EAGAIN : -ETIMEDOUT;
}

static int parse(const struct capture_child *c, struct cpi_capture_reply *reply,
		 const void **covers, const void **data)
{
	struct cpi_capture_reply r;

	if (c->got.len < sizeof(r))
		return -ECHILD;
	memcpy(&r, c->got.data, sizeof(r));
	if (r.magic != CPI_CAPTURE_MAGIC || r.err > 0 ||
	    r.covers_size > CPI_CAPTURE_COVERS ||
	    sizeof(r) + (uint64_t)r.covers_size + r.data_size != c->got.len)
		return -CPI_ECORRUPT;
	if (r.err)
		return r.err;
	*reply = r;
	*covers = c->got.data + sizeof(r);
	*data = c->got.data + sizeof(r) + r.covers_size;
	return 0;
}

int capture_child_take(struct capture_child *c, struct cpi_capture_reply *reply,
		       const void **covers, const void **data)
{
	int err = read_some(c);

	if (err == -EAGAIN)
		return err;
	end_job(c);
	return err ? err : parse(c, reply, covers, data);
}
