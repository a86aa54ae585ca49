/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process is no child but a grandchild, as nobody can wait for one that is stuck.
 * A timer ends it as soon as anything can.
 */
#include "config.h"

#include "daemon/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/times.h"

static const struct ration_limit limit = { 20, 2 * APART_PATIENCE_MS *NSEC_PER_MSEC };

struct message {
	int err;
	_Alignas(max_align_t) char answer[APART_MAX_ANSWER];
};

#define HEAD_SIZE offsetof(struct message, answer)

/* What it holds of this process's would stay held for as long as it is stuck. */
static void let_go(int *fd)
{
	const struct itimerval end = { .it_value = { .tv_usec = APART_PATIENCE_MS *
								1000 } };
	sigset_t none;

	*fd = dup2(*fd, STDIN_FILENO);
	close_range(STDIN_FILENO + 1, ~0U, 0);
	sigemptyset(&none);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setitimer(ITIMER_REAL, &end, NULL);
}

static void work(int fd, apart_fn fn, void *ctx, size_t size)
{
	struct message m = { 0 };

	let_go(&fd);
	m.err = fn(ctx, m.answer);
	_exit(write(fd, &m, HEAD_SIZE + size) < 0);
}

/* The end of the pipe that its answer comes through, or -errno. */
static int start(apart_fn fn, void *ctx, size_t size)
{
	int fd[2], status;
	pid_t child;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (!child) {
		if (!fork())
			work(fd[1], fn, ctx, size);
		_exit(0);
	}
	close(fd[1]);
	if (child > 0) {
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		return fd[0];
	}
	close(fd[0]);
	return -EAGAIN;
}

/* Waits for an answer, or the end. 0 or -ETIMEDOUT. */
static int await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end_ns = time_mono_ns() + APART_PATIENCE_MS * NSEC_PER_MSEC, now_ns;

	while ((now_ns = time_mono_ns()) < end_ns) {
		if (poll(&p, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1) > 0)
			return 0;
	}
	return -ETIMEDOUT;
}

/* Room to remember one that is stuck, or NULL: so many still are. */
static int *find_room(struct apart *a)
{
	int *room = NULL;

	for (int i = 0; i < APART_MAX_STUCK; i++) {
		struct pollfd p = { .fd = a->stuck[i] - 1 };

		if (a->stuck[i] && poll(&p, 1, 0) > 0) { /* it is gone */
			close(p.fd);
			a->stuck[i] = 0;
		}
		if (!a->stuck[i])
			room = &a->stuck[i];
	}
	return room;
}

static int read_answer(int fd, void *answer, size_t size)
{
	struct message m;
	ssize_t got = read(fd, &m, sizeof(m));

	if (got != (ssize_t)(HEAD_SIZE + size))
		return -ETIMEDOUT; /* its timer ended it, or there was no memory */
	if (!m.err && size)
		memcpy(answer, m.answer, size);
	return m.err;
}

int apart_run(struct apart *a, apart_fn fn, void *ctx, void *answer, size_t size)
{
	uint64_t begun_ns = time_mono_ns();
	int *room = find_room(a);
	int fd, err;

	if (!room || !ration_has(&a->ration, &limit, begun_ns))
		return -EBUSY;
	fd = start(fn, ctx, size);
	if (fd < 0)
		return fd;
	err = await(fd);
	if (err) {
		*room = fd + 1;
	} else {
		err = read_answer(fd, answer, size);
		close(fd);
	}
	ration_spend(&a->ration, time_mono_ns() - begun_ns);
	return err;
}

void apart_fini(struct apart *a)
{
	for (int i = 0; i < APART_MAX_STUCK; i++) {
		if (a->stuck[i])
			close(a->stuck[i] - 1);
	}
}
