/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_child_serve.c - the server, which never waits for anybody but its parent, and
 * the worker, which may wait for ever
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fdpass.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/os/openfiles.h"
#include "daemon/os/privileges.h"
#include "daemon/os/timed_child_private.h"

/* Keeps nothing of the parent's open: a stuck worker would keep it for as long. */
static int let_go(int *socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), err = 0;

	if (null < 0 || dup2(*socket, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		err = -errno;
	*socket = STDIN_FILENO;
	file_close_from(STDERR_FILENO + 1);
	return err;
}

/* The parent says when it is over; nobody's terminal or service manager does. */
static void ignore_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

/*
 * Must be called after the last change of credentials, because that clears
 * PDEATHSIG.
 */
static void end_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
}

static int send_message(int socket, const void *data, size_t size)
{
	int err;

	do {
		err = fdpass_send_waiting(socket, data, size, NULL, 0);
	} while (err == -EINTR);
	return err;
}

static int send_answer(int socket, const struct timed_child_job *job, int result,
		       uint64_t spent_ns)
{
	static const size_t first =
		TIMED_CHILD_CHUNK - sizeof(struct timed_child_reply);
	const size_t size = result ? 0 : job->answer.len;
	struct timed_child_reply reply = { result, (uint32_t)size, spent_ns };
	char message[TIMED_CHILD_CHUNK];
	size_t done = size < first ? size : first;
	int err;

	memcpy(message, &reply, sizeof(reply));
	if (done)
		memcpy(message + sizeof(reply), job->answer.data, done);
	err = send_message(socket, message, sizeof(reply) + done);
	while (!err && done < size) {
		const size_t n = size - done < TIMED_CHILD_CHUNK ? size - done
								 : TIMED_CHILD_CHUNK;

		err = send_message(socket, job->answer.data + done, n);
		done += n;
	}
	return err;
}

static int run_job(int socket, struct timed_child_job *job, timed_child_fn fn)
{
	const uint64_t begun_ns = time_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int result, err;

	result = fn(job);
	if (!result)
		result = job->answer.err;
	if (!result && job->answer.len > TIMED_CHILD_MAX_ANSWER)
		result = -EFBIG;
	err = send_answer(socket, job, result,
			  time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns);
	buf_fini(&job->answer);
	return err;
}

/* Closes what was kept: the other end has closed its own by now. */
static void close_kept(int *kept_fd)
{
	if (*kept_fd >= 0)
		close(*kept_fd);
	*kept_fd = -1;
}

static void work(int socket)
{
	struct {
		struct timed_child_head head;
		char data[TIMED_CHILD_MAX_QUESTION];
	} message;
	struct openfiles *files = openfiles_new();
	int fd, kept_fd = -1;
	ssize_t n;

	while (files && (n = fdpass_take_some(socket, &message, sizeof(message), &fd,
					      0)) >= (ssize_t)sizeof(message.head)) {
		struct timed_child_job job = { .question = message.data,
					       .size = (size_t)n - sizeof(message.head),
					       .fd = fd,
					       .files = files };

		close_kept(&kept_fd);
		if (!message.head.fn)
			kept_fd = fd;
		else if (run_job(socket, &job, message.head.fn))
			break;
	}
}

/* ---- the server ---- */

#define LINGER_LOOK_MS 20

struct worker {
	pid_t pid; /* 0: none */
	uint64_t end_ns, end_cpu_ns;
};

struct server {
	int socket;
	struct worker now, lingering[TIMED_CHILD_MAX_LINGER];
};

static uint64_t cpu_ns_of(pid_t pid)
{
	clockid_t id;

	return clock_getcpuclockid(pid, &id) ? 0 : time_clock_ns(id);
}

/* Where that does not help, it stays until it can die. */
static void end_worker(struct worker *w)
{
	if (w->pid > 0)
		kill(w->pid, SIGKILL);
	w->pid = 0;
}

/*
 * Lets the current worker go on in a free lingering slot; if there is none, kills
 * it.
 */
static void let_linger(struct server *s)
{
	struct worker *w = &s->now;

	for (int i = 0; w->pid > 0 && i < TIMED_CHILD_MAX_LINGER; i++) {
		struct worker *l = &s->lingering[i];

		if (l->pid)
			continue;
		l->pid = w->pid;
		l->end_ns = time_mono_ns() + TIMED_CHILD_LINGER_MS * NSEC_PER_MSEC;
		l->end_cpu_ns =
			cpu_ns_of(w->pid) + TIMED_CHILD_LINGER_CPU_MS * NSEC_PER_MSEC;
		w->pid = 0;
	}
	end_worker(w);
}

static void forget(struct server *s, pid_t pid)
{
	for (int i = 0; i < TIMED_CHILD_MAX_LINGER; i++) {
		if (s->lingering[i].pid == pid)
			s->lingering[i].pid = 0;
	}
	if (s->now.pid == pid)
		s->now.pid = 0;
}

static void reap(struct server *s)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		forget(s, pid);
}

/* Kills lingering workers whose time is over. Returns the timeout for poll(). */
static int look_after_lingering(struct server *s)
{
	int timeout_ms = -1;

	reap(s);
	for (int i = 0; i < TIMED_CHILD_MAX_LINGER; i++) {
		struct worker *w = &s->lingering[i];

		if (w->pid &&
		    (time_mono_ns() >= w->end_ns || cpu_ns_of(w->pid) >= w->end_cpu_ns))
			end_worker(w);
		if (w->pid)
			timeout_ms = LINGER_LOOK_MS;
	}
	return timeout_ms;
}

static pid_t start_worker(int socket)
{
	const pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	end_with(parent);
	close(STDIN_FILENO);
	work(socket);
	_exit(EXIT_SUCCESS);
}

/* Until the socket ends. */
static void serve(struct server *s)
{
	struct pollfd p = { .fd = s->socket, .events = POLLIN };
	int fd;
	char before;

	for (;;) {
		if (poll(&p, 1, look_after_lingering(s)) <= 0)
			continue;
		if (fdpass_take(s->socket, &before, 1, &fd, 1) != 1)
			return;
		if (before == TIMED_CHILD_LINGER)
			let_linger(s);
		else
			end_worker(&s->now);
		reap(s);
		s->now.pid = start_worker(fd);
		close(fd);
	}
}

void timed_child_serve(int socket)
{
	const pid_t parent = getppid();
	struct server s = { 0 };

	ignore_signals();
	if (let_go(&socket))
		_exit(EXIT_FAILURE);
	prctl(PR_SET_NAME, "cpi-read");
	if (privileges_keep_reading() || send(socket, "", 1, 0) < 0)
		_exit(EXIT_FAILURE);
	end_with(parent);
	s.socket = socket;
	serve(&s);
	_exit(EXIT_SUCCESS); /* which ends the workers: end_with() */
}
