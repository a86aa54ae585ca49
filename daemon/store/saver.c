/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saver.c - a thread that copies the database
 *
 * The thread writes the result before it sets done; the caller reads it after the join.
 */
#include "config.h"

#include "daemon/store/saver.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/save.h"

struct saver {
	struct db *db;
	char *path;
	pthread_t thread;
	int err;          /* written by the thread; read after the join */
	atomic_bool done; /* its release pairs with saver_is_done() */
};

static void *work(void *arg)
{
	struct saver *s = arg;

	s->err = save_copy(s->db, s->path);
	atomic_store_explicit(&s->done, true, memory_order_release);
	return NULL;
}

static void saver_free(struct saver *s)
{
	free(s->path);
	free(s);
}

int saver_start(struct db *db, const char *path, struct saver **out)
{
	struct saver *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->db = db;
	s->path = strdup(path);
	err = s->path ? -pthread_create(&s->thread, NULL, work, s) : -ENOMEM;
	if (err)
		saver_free(s);
	else
		*out = s;
	return err;
}

bool saver_is_done(const struct saver *s)
{
	return atomic_load_explicit(&s->done, memory_order_acquire);
}

int saver_end(struct saver *s)
{
	int err;

	pthread_join(s->thread, NULL);
	err = s->err;
	saver_free(s);
	return err;
}
