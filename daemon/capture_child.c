/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/capture_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/privileges.h"

#define NAME       "cpi-capture"
#define PATIENCE_S 330       /* above what the child gives its worker */
#define READ_BYTES (1 << 18) /* at a time */

/*
 * Beside this program, or where the build leaves it, so that the two are of one
 * version; else where it is installed.
 */
static int find_program(char path[PATH_MAX])
{
	static const char *const beside[] = { "", "../tools/" };
	char own[PATH_MAX / 2];
	const ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[len < 0 ? 0 : len] = '\0';
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		const char *slash = strrchr(own, '/');

		snprintf(path, PATH_MAX, "%.*s/%s" NAME, slash ? (int)(slash - own) : 0,
			 own, beside[i]);
		if (slash && access(path, X_OK) == 0)
			return 0;
	}
	snprintf(path, PATH_MAX, "%s/" NAME, PKGLIBEXECDIR);
	return access(path, X_OK) < 0 ? -errno : 0;
}

/* Its signals as a program expects them; of ours nothing but the socket. */
static int spawn(const char *path, int socket, pid_t *pid)
{
	char *const args[] = { NAME, NULL }, *const no_env[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	err = posix_spawn(pid, path, &files, &attr, args, no_env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -err;
}

int capture_child_start(struct capture_child *c)
{
	char path[PATH_MAX];
	int pair[2], err;

	if (geteuid() == 0 &&
	    (!privileges_have(CAP_SETUID) || !privileges_have(CAP_SETGID)))
		return -EPERM;
	err = find_program(path);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = spawn(path, pair[1], &c->pid);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	c->socket = pair[0];
	return 0;
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
	if (!c->pid)
		return;
	close(c->socket);
	c->socket = -1;
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

/* A file without a name, with the request and its offsets. */
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

static int send_fds(int socket, const int fds[CPI_CAPTURE_NR_FDS])
{
	const size_t size = CPI_CAPTURE_NR_FDS * sizeof(int);
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	union {
		struct cmsghdr head; /* aligns */
		char bytes[CMSG_SPACE(CPI_CAPTURE_NR_FDS * sizeof(int))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(c), fds, size);
	return sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
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
		err = send_fds(c->socket, fds);
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

/* 0 at the end of what comes. */
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
