/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * background.c - a detached thread, and who frees what it made
 *
 * I1  The thread and the owner share only struct background. The thread finishes the
 *     work before it takes the lock and sets done; the owner reads the work after it
 *     has seen done under the lock.
 * I2  Whichever of the two ends last frees it: the owner in background_end() if done is
 *     set, otherwise the thread, when it sees that abandoned is set.
 */
#include "config.h"

#include "daemon/os/background.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Behind other programs, but not starved by them: it gets a tenth of the CPU time that
 * one thread of the usual priority gets.
 */
#define NICE 10

struct background {
	struct background_work work;
	pthread_mutex_t lock;
	bool done, abandoned;
};

static void background_free(struct background *b)
{
	pthread_mutex_destroy(&b->lock);
	free(b);
}

static void *run(void *arg)
{
	struct background *b = arg;
	bool abandoned;

	if (!b->work.is_urgent)
		setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	b->work.run(b->work.work);
	pthread_mutex_lock(&b->lock);
	b->done = true;
	abandoned = b->abandoned;
	pthread_mutex_unlock(&b->lock);
	if (!abandoned)
		return NULL;
	b->work.discard(b->work.work);
	background_free(b);
	return NULL;
}

/* The signals of this process are for its other threads. */
static int start_thread(struct background *b)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, run, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

int background_start(const struct background_work *w, struct background **out)
{
	struct background *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->work = *w;
	pthread_mutex_init(&b->lock, NULL);
	err = start_thread(b);
	if (err)
		background_free(b);
	else
		*out = b;
	return err;
}

bool background_is_done(struct background *b)
{
	bool done;

	pthread_mutex_lock(&b->lock);
	done = b->done;
	pthread_mutex_unlock(&b->lock);
	return done;
}

bool background_end(struct background *b)
{
	bool done;

	if (!b)
		return true;
	pthread_mutex_lock(&b->lock);
	done = b->done;
	b->abandoned = true;
	pthread_mutex_unlock(&b->lock);
	if (done)
		background_free(b);
	return done;
}
