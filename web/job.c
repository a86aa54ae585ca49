/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.c - runs a child for each question, and collects what it prints
 *
 * 	         a place is free             the child has ended
 * 	queued ------------------> running ----------------------> answered, freed
 * 	pid 0                      pid > 0                         pid -1
 * 	   |                          |
 * 	   | nobody waits any more    | time, size, memory, or nobody waits any more
 * 	   +--> freed                 +--> failure is set, the group is killed;
 * 	                                   still running until its end
 *
 * A job that was killed keeps its place until its process has ended: otherwise there
 * could be more processes than max_running. Its waiters are answered after STUCK_S at
 * the latest. The group is killed before its leader is reaped, because the number of a
 * reaped process may be another's. Then the pipes are read to their end, since epoll
 * may report the end of the process before its last output.
 */
#include "config.h"

#include "web/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/times.h"
#include "service/confine.h"
#include "tools/ui/cmd.h"
#include "web/spawn.h"

#define MAX_MESSAGES 4096 /* bytes of stderr that are kept */
#define PIECE        65536
#define MAX_PIECES   32 /* the most that a pipe holds after its writers ended */
#define END_MS       1000
#define NICER        1 /* four fifths of the CPU time of the job before it */
#define STUCK_S      5 /* until a killed child is no longer waited for */

struct job {
	struct job *next;
	struct jobs *jobs;
	struct job_key key;
	struct api_call call;
	struct job_waiter *waiters;
	pid_t pid; /* 0: it waits for its turn */
	struct watch out, err, end;
	struct content_writer *writer;
	struct buf messages;
	uint64_t deadline_ns;
	bool is_former; /* it began before the options changed */
	int failure; /* why it was killed: -ETIMEDOUT, -ECANCELED, -EFBIG, …; or 0 */
};

static void start_some(struct jobs *jobs);

static void unlink_job(struct job *job)
{
	struct job **at = &job->jobs->first;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
}

static void close_watch(struct loop *loop, struct watch *w)
{
	if (w->fd < 0)
		return;
	loop_remove(loop, w);
	close(w->fd);
	w->fd = -1;
}

/*
 * Kills the child with all that it started: they are a process group, which they cannot
 * leave (confine.c). Its number is the child's until that is reaped; after that it may
 * become another group's.
 */
static void kill_group(const struct job *job)
{
	if (job->pid > 1)
		kill(-job->pid, SIGKILL);
}

static void free_job(struct job *job)
{
	struct loop *loop = job->jobs->loop;

	close_watch(loop, &job->out);
	close_watch(loop, &job->err);
	close_watch(loop, &job->end);
	content_writer_free(job->writer);
	buf_fini(&job->messages);
	api_call_fini(&job->call);
	free(job);
}

static void fail(struct job *job, int failure)
{
	if (!job->failure)
		job->failure = failure;
	kill_group(job);
}

/* Reads some of the child's output. Returns bytes; 0 at the end; -EAGAIN: none yet. */
static ssize_t read_out(struct job *job)
{
	char piece[PIECE];
	ssize_t got = read(job->out.fd, piece, sizeof(piece));
	int err;

	if (got < 0)
		return -EAGAIN;
	if (!got || job->failure)
		return got;
	err = content_write(job->writer, piece, (size_t)got,
			    job->jobs->config->max_gzip);
	if (err)
		fail(job, err);
	return got;
}

static ssize_t read_err(struct job *job)
{
	char piece[MAX_MESSAGES];
	const size_t room = MAX_MESSAGES - job->messages.len;
	ssize_t got = read(job->err.fd, piece, sizeof(piece));

	if (got < 0)
		return -EAGAIN;
	buf_put(&job->messages, piece, (size_t)got < room ? (size_t)got : room);
	return got;
}

static void on_out(struct watch *w, uint32_t events)
{
	struct job *job = container_of(w, struct job, out);

	if (!read_out(job)) /* otherwise epoll would report the end for ever */
		loop_remove(job->jobs->loop, w);
}

static void on_err(struct watch *w, uint32_t events)
{
	struct job *job = container_of(w, struct job, err);

	if (!read_err(job))
		loop_remove(job->jobs->loop, w);
}

static const char *skip(const char *text, const char *prefix)
{
	const size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? text : text + len;
}

/* The messages without "cpi: error: " before each line and without the last newline. */
static char *plain_messages(struct buf *messages)
{
	const char *text = buf_str(messages);
	struct buf out = { 0 };

	while (*text) {
		const char *line = skip(skip(text, "cpi: "), "error: ");

		text += strcspn(text, "\n");
		if (out.len)
			buf_putc(&out, '\n');
		buf_put(&out, line, (size_t)(text - line));
		text += *text == '\n';
	}
	buf_str(&out);
	return out.data;
}

static struct reply *failed_reply(const struct job *job, int status,
				  const char *messages)
{
	const char *report = job->call.report;

	if (job->failure == -ETIMEDOUT ||
	    (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		return reply_error(504,
				   "%s: not done within %u s: choose a shorter time, "
				   "or one image",
				   report, job->jobs->config->patience_s);
	if (job->failure == -EFBIG)
		return reply_error(500,
				   "%s: the result is too large: choose a shorter "
				   "time, or one image",
				   report);
	if (job->failure)
		return reply_error(500, "%s: %s", report, err_str(job->failure));
	if (WIFSIGNALED(status))
		return reply_error(500, "%s: ended by signal %d%s%s", report,
				   WTERMSIG(status), *messages ? ": " : "", messages);
	if (WEXITSTATUS(status) == EXIT_USAGE)
		return reply_error(400, "%s", messages);
	if (WEXITSTATUS(status) == SPAWN_FAILED)
		return reply_error(500, "%s: %s", report, messages);
	return reply_error(422, "%s", *messages ? messages : "the command failed");
}

static struct reply *make_reply(struct job *job, int status)
{
	char *messages = plain_messages(&job->messages);
	struct content *content = NULL;
	struct reply *reply = NULL;

	if (!messages)
		return NULL;
	if (job->failure || !WIFEXITED(status) || WEXITSTATUS(status))
		reply = failed_reply(job, status, messages);
	else if (!content_finish(job->writer, &content))
		reply = reply_new(200, job->call.type, content);
	if (reply && reply->status == 200 && *messages) {
		reply->warnings = messages;
		messages = NULL;
	}
	free(messages);
	return reply;
}

/*
 * The report `status` is cheap, and tells whether all is well. A stamp is cheap, and
 * may make a report unnecessary. So neither has to wait for reports.
 */
static bool is_cheap(const struct api_call *call)
{
	return !strcmp(call->report, "status") || !strcmp(call->report, "stamp");
}

/* One cheap child may run beside max_running others. */
static bool has_place(const struct jobs *jobs, bool cheap)
{
	const unsigned int beside = cheap ? !jobs->nr_cheap : jobs->nr_cheap > 0;

	return jobs->nr_running < jobs->config->max_running + beside;
}

static void answer(struct job *job, int status)
{
	struct jobs *jobs = job->jobs;
	struct reply *reply = make_reply(job, status);
	struct job_waiter *w, *next;

	jobs->nr_done += !is_cheap(&job->call);
	jobs->nr_failed += !reply || reply->status >= 500;
	if (reply && !job->is_former)
		jobs->finished(jobs, &job->key, reply);
	next = job->waiters;
	job->waiters = NULL;
	while ((w = next)) {
		next = w->next;
		w->job = NULL;
		w->done(w, reply);
	}
	reply_drop(reply);
}

static void finish(struct job *job, int status)
{
	struct jobs *jobs = job->jobs;

	unlink_job(job);
	jobs->nr_running--;
	jobs->nr_cheap -= is_cheap(&job->call);
	if (job->waiters)
		answer(job, status);
	free_job(job);
	start_some(jobs);
}

static void drain(struct job *job)
{
	int n = 0;

	while (n < MAX_PIECES && read_out(job) > 0)
		n++;
	if (n == MAX_PIECES)
		fail(job, -EFBIG);
	for (n = 0; n < MAX_PIECES && read_err(job) > 0;)
		n++;
}

/* A process that has ended keeps its number until it is reaped. */
static bool has_ended(const struct job *job)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid == job->pid;
}

/*
 * The child has ended. What it has started ends with it, so that nothing writes to its
 * pipes any more. What is still in them belongs to its result.
 */
static void on_end(struct watch *w, uint32_t events)
{
	struct job *job = container_of(w, struct job, end);
	int status = 0;

	if (!has_ended(job))
		return;
	kill_group(job);
	drain(job);
	waitpid(job->pid, &status, WNOHANG);
	job->pid = -1;
	finish(job, status);
}

/*
 * A report yields to those that began before it. The page asks for the time line first,
 * so this is ready first, even if there are fewer CPUs than reports.
 */
static int nicer(const struct job *job)
{
	const struct jobs *jobs = job->jobs;
	const unsigned int before = jobs->nr_running - 1 - jobs->nr_cheap;

	return is_cheap(&job->call) ? 0 : NICER * (before < 3 ? (int)before : 3);
}

static int start(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct spawned child;
	int err;

	job->writer = content_writer_new();
	if (!job->writer)
		return -ENOMEM;
	err = spawn_report(jobs->config, job->call.argv, nicer(job), &child);
	if (err)
		return err;
	job->pid = child.pid;
	job->out = (struct watch){ .fd = child.out, .fn = on_out };
	job->err = (struct watch){ .fd = child.err, .fn = on_err };
	job->end = (struct watch){ .fd = child.pidfd, .fn = on_end };
	err = child.pidfd < 0 ? child.pidfd : loop_add(jobs->loop, &job->out, EPOLLIN);
	if (!err)
		err = loop_add(jobs->loop, &job->err, EPOLLIN);
	if (!err)
		err = loop_add(jobs->loop, &job->end, EPOLLIN);
	return err;
}

static void start_or_fail(struct job *job)
{
	struct jobs *jobs = job->jobs;
	int err;

	jobs->nr_queued--;
	jobs->nr_running++;
	jobs->nr_cheap += is_cheap(&job->call);
	job->deadline_ns = time_mono_ns() + jobs->config->patience_s * NSEC_PER_SEC;
	err = start(job);
	if (!err)
		return;
	log_err("web: %s: %s", job->call.report, err_str(err));
	fail(job, err);
	if (job->pid > 0)
		return; /* jobs_tick() reaps it */
	job->pid = -1;
	finish(job, 0);
}

static void start_some(struct jobs *jobs)
{
	struct job *job = jobs->first;

	while (job) {
		struct job *next = job->next;

		if (!job->pid && has_place(jobs, is_cheap(&job->call))) {
			start_or_fail(job);
			next = jobs->first; /* another one may have been freed */
		}
		job = next;
	}
}

static struct job *find_job(const struct jobs *jobs, const struct job_key *key)
{
	struct job *job = jobs->first;

	while (job &&
	       (memcmp(&job->key, key, sizeof(*key)) || job->failure || job->is_former))
		job = job->next;
	return job;
}

static struct job *new_job(struct jobs *jobs, const struct job_key *key,
			   struct api_call *call)
{
	struct job *job = calloc(1, sizeof(*job));
	struct job **last = &jobs->first;

	if (!job)
		return NULL;
	*job = (struct job){ .jobs = jobs, .key = *key, .call = *call };
	job->out.fd = job->err.fd = job->end.fd = -1;
	while (*last)
		last = &(*last)->next;
	*last = job;
	jobs->nr_queued++;
	return job;
}

static void join_job(struct job_waiter *w, struct job *job)
{
	w->job = job;
	w->next = job->waiters;
	job->waiters = w;
}

int jobs_ask(struct jobs *jobs, const struct job_key *key, struct api_call *call,
	     struct job_waiter *w)
{
	struct job *job = find_job(jobs, key);
	int err = 0;

	if (job) {
		api_call_fini(call);
	} else if (jobs->nr_queued >= jobs->config->max_queued + is_cheap(call)) {
		jobs->nr_refused++;
		err = -EBUSY;
	} else {
		job = new_job(jobs, key, call);
		err = job ? 0 : -ENOMEM;
	}
	if (err) {
		api_call_fini(call);
		return err;
	}
	join_job(w, job);
	start_some(jobs);
	return 0;
}

void jobs_leave(struct job_waiter *w)
{
	struct job *job = w->job;
	struct jobs *jobs = job->jobs;
	struct job_waiter **at = &job->waiters;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	w->job = NULL;
	if (job->waiters)
		return;
	jobs->nr_cancelled++;
	if (job->pid) {
		fail(job, -ECANCELED); /* it keeps its place until it has ended */
		return;
	}
	unlink_job(job);
	jobs->nr_queued--;
	free_job(job);
	start_some(jobs);
}

bool jobs_are_free(const struct jobs *jobs)
{
	return has_place(jobs, false) && has_place(jobs, true) && !jobs->nr_queued;
}

void jobs_rename(struct job_waiter *w, const struct job_key *key)
{
	struct job *other = find_job(w->job->jobs, key);

	if (other == w->job || w->job->failure || w->job->is_former)
		return;
	if (!other) {
		w->job->key = *key;
		return;
	}
	jobs_leave(w);
	join_job(w, other);
}

void jobs_options_changed(struct jobs *jobs)
{
	for (struct job *job = jobs->first; job; job = job->next)
		job->is_former = true;
}

/*
 * A killed process that waits for a device does not end at once. Then its waiters are
 * answered before it ends. Returns whether they were; then other jobs may have ended.
 */
static bool tick(struct job *job, uint64_t now_ns)
{
	if (now_ns > job->deadline_ns)
		fail(job, -ETIMEDOUT);
	if (now_ns <= job->deadline_ns + STUCK_S * NSEC_PER_SEC || !job->waiters)
		return false;
	answer(job, 0);
	return true;
}

void jobs_tick(struct jobs *jobs, uint64_t now_ns)
{
	struct job *next;

	for (struct job *job = jobs->first; job; job = next) {
		next = job->next;
		if (job->pid <= 0)
			continue;
		if (tick(job, now_ns))
			next = jobs->first;
		if (job->failure && has_ended(job)) { /* perhaps without an event */
			on_end(&job->end, EPOLLIN);
			next = jobs->first;
		}
	}
}

/* A killed child ends soon; the service manager ends one that does not. */
static void await_end(struct job *job)
{
	struct pollfd end = { .fd = job->end.fd, .events = POLLIN };

	kill_group(job);
	if (job->pid > 0 && poll(&end, 1, END_MS) == 1)
		waitpid(job->pid, NULL, WNOHANG);
}

void jobs_fini(struct jobs *jobs)
{
	struct job_waiter *w, *next;
	struct job *job;

	while ((job = jobs->first)) {
		jobs->first = job->next;
		for (w = job->waiters; w; w = next) {
			next = w->next;
			w->job = NULL;
			w->done(w, NULL);
		}
		await_end(job);
		free_job(job);
	}
}
