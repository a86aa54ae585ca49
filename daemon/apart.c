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

#include "base/file.h"
#include "base/times.h"

static const struct ration_limit limit = { 20, 2 * APART_PATIENCE_MS *NSEC_PER_MSEC };

struct message {
	int err;
	_Alignas(max_align_t) char answer[APART_MAX_ANSWER];
};

#define HEAD_SIZE offsetof(struct message, answer)

/* What it holds of this process's would stay held for as long as it is stuck. */
static void let_go(int *fd, unsigned int patience_ms)
{
	const struct itimerval end = {
		.it_value = { patience_ms / 1000, patience_ms % 1000 * 1000 },
	};
	sigset_t none;

	*fd = dup2(*fd, STDIN_FILENO);
	close_range(STDIN_FILENO + 1, ~0U, 0);
	sigemptyset(&none);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setitimer(ITIMER_REAL, &end, NULL);
}

int apart_start(apart_work_fn work, void *ctx, unsigned int patience_ms)
{
	int fd[2], status;
	pid_t child;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (!child) {
		if (!fork()) {
			let_go(&fd[1], patience_ms);
			work(ctx, fd[1]);
		}
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

struct question {
	apart_fn fn;
	void *ctx;
	size_t size;
};

static void answer(void *ctx, int fd)
{
	const struct question *q = ctx;
	struct message m = { 0 };

	m.err = q->fn(q->ctx, m.answer);
	file_write(fd, &m, HEAD_SIZE + q->size);
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

static int read_answer(int fd, void *out, size_t size)
{
	struct message m;
	ssize_t got = read(fd, &m, sizeof(m));

	if (got != (ssize_t)(HEAD_SIZE + size))
		return -ETIMEDOUT; /* its timer ended it, or there was no memory */
	if (!m.err && size)
		memcpy(out, m.answer, size);
	return m.err;
}

int apart_run(struct apart *a, apart_fn fn, void *ctx, void *out, size_t size)
{
	uint64_t begun_ns = time_mono_ns();
	struct question question = { fn, ctx, size };
	int *room = find_room(a);
	int fd, err;

	if (!room || !ration_has(&a->ration, &limit, begun_ns))
		return -EBUSY;
	fd = apart_start(answer, &question, APART_PATIENCE_MS);
	if (fd < 0)
		return fd;
	err = await(fd);
	if (err) {
		*room = fd + 1;
	} else {
		err = read_answer(fd, out, size);
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
