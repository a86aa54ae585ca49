/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.c - the main thread's side of the control socket
 *
 * Requests come in two queues. Those of root and the daemon's user are all carried out
 * first; of the others one per round, so that sampling goes on between them.
 *
 * The lock is held for a few pointers and the copy of a text, never across a system
 * call but the wake-up of the other thread.
 */
#include "config.h"

#include "daemon/control/control.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/control/control_private.h"

/* The last status is sent only if the main thread does not answer in time. */
#define PUBLISH_NS      NSEC_PER_SEC        /* if a status was asked for ... */
#define ASKED_NS        (60 * NSEC_PER_SEC) /* ... in this time */
#define PUBLISH_IDLE_NS (10 * NSEC_PER_SEC) /* else */

void jobs_add(struct jobs *jobs, struct job *job)
{
	job->next = NULL;
	*(jobs->first ? jobs->end : &jobs->first) = job;
	jobs->end = &job->next;
}

struct job *jobs_take(struct jobs *jobs)
{
	struct job *job = jobs->first;

	if (job)
		jobs->first = job->next;
	return job;
}

void control_signal(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

/* Publishes a new status. Without memory for it, the previous one stays. */
static void publish(struct control *c, struct session *s)
{
	uint64_t begun_ns = time_mono_ns();
	struct buf text = { 0 }, old;

	session_status(s, &text);
	buf_put(&text, c->description.data, c->description.len);
	pthread_mutex_lock(&c->lock);
	old = text;
	if (!text.err) {
		old = c->status;
		c->status = text;
		c->status_ns = begun_ns;
	}
	if (c->status_wanted) {
		c->asked_ns = begun_ns;
		control_signal(c->wake_fd);
	}
	c->status_wanted = false;
	pthread_mutex_unlock(&c->lock);
	buf_fini(&old);
	c->published_ns = begun_ns;
}

void control_describe(struct control *c, struct buf *text)
{
	buf_fini(&c->description);
	c->description = *text;
	*text = (struct buf){ 0 };
}

void control_publish(struct control *c, struct session *s)
{
	const uint64_t now_ns = time_mono_ns();
	const bool is_asked = c->asked_ns && now_ns - c->asked_ns < ASKED_NS;

	if (!c->published_ns ||
	    now_ns - c->published_ns >= (is_asked ? PUBLISH_NS : PUBLISH_IDLE_NS))
		publish(c, s);
}

static void perform(struct control *c, struct job *job, struct session *s, bool *quit)
{
	request_perform(job, s);
	if (job->request.head.op == CPI_CONTROL_QUIT && !job->status) {
		log_info("control: pid %d (uid %u) asked to quit", (int)job->peer.pid,
			 (unsigned int)job->peer.uid);
		*quit = true;
	}
	pthread_mutex_lock(&c->lock);
	jobs_add(&c->done, job);
	control_signal(c->wake_fd);
	pthread_mutex_unlock(&c->lock);
}

/*
 * Takes the next request of this round, or NULL. *others_left is how many requests of
 * other users may still be taken.
 */
static struct job *next_job(struct control *c, int *others_left)
{
	struct job *job;

	pthread_mutex_lock(&c->lock);
	job = jobs_take(&c->todo[true]);
	if (!job && *others_left) {
		job = jobs_take(&c->todo[false]);
		--*others_left;
	}
	if (!job && c->todo[false].first)
		control_signal(c->work_fd); /* in the next round */
	pthread_mutex_unlock(&c->lock);
	return job;
}

void control_run(struct control *c, struct session *s, bool *quit)
{
	int others_left = 1;
	struct job *job;
	uint64_t count;
	bool wanted;

	(void)!read(c->work_fd, &count, sizeof(count));
	pthread_mutex_lock(&c->lock);
	wanted = c->status_wanted;
	pthread_mutex_unlock(&c->lock);
	if (wanted)
		publish(c, s);
	while ((job = next_job(c, &others_left)))
		perform(c, job, s, quit);
}

/* A thread begins with the mask of the one that starts it. */
static int start_thread(struct control *c)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&c->thread, NULL, server_run, c->server);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	c->started = !err;
	if (err)
		log_err("control: a thread cannot be started: %s", err_str(err));
	return err;
}

int control_open(const char *path, gid_t group, struct heartbeat *heartbeat,
		 struct control **out)
{
	struct control *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->heartbeat = heartbeat;
	pthread_mutex_init(&c->lock, NULL);
	c->work_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->work_fd < 0 || c->wake_fd < 0) {
		err = -errno;
		goto out;
	}
	err = listener_open(path, group, &c->listener);
	if (!err)
		err = server_new(c, &c->server);
	if (!err)
		err = start_thread(c);
	if (err)
		goto out;
	*out = c;
	return 0;
out:
	control_close(c);
	return err;
}

int control_fd(const struct control *c)
{
	return c->work_fd;
}

/* Requests that were not begun are answered with an error. */
void control_end(struct control *c)
{
	struct job *job;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->ending = true;
	for (int i = 0; i < 2; i++) {
		while ((job = jobs_take(&c->todo[i]))) {
			buf_puts(&job->text, "cpid is ending\n");
			job->status = -ESHUTDOWN;
			jobs_add(&c->done, job);
		}
	}
	control_signal(c->wake_fd);
	pthread_mutex_unlock(&c->lock);
}

void control_close(struct control *c)
{
	if (!c)
		return;
	control_end(c);
	if (c->started) {
		pthread_mutex_lock(&c->lock);
		c->quit = true;
		control_signal(c->wake_fd);
		pthread_mutex_unlock(&c->lock);
		pthread_join(c->thread, NULL);
	}
	server_free(c->server);
	listener_close(c->listener);
	if (c->work_fd >= 0)
		close(c->work_fd);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	buf_fini(&c->status);
	buf_fini(&c->description);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
