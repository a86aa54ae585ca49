/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_late.c - opens what sampling does not need at once
 *
 * Sampling begins first. A BPF program whose loading takes much CPU time is loaded
 * later, by a thread of low priority: windows (windowlate.h), and the notices of new
 * programs, without which mapping events are read more often.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/os/background.h"
#include "daemon/session/session_private.h"

#define TARGET_MS 50 /* between attempts; a target may end soon */
#define SYSTEM_MS 250

#define NEWPROGRAM_AFTER_NS NSEC_PER_SEC

struct late_newprogram {
	struct background *thread; /* NULL: not started yet */
	struct newprogram *opened;
	int err;
};

static void open_in_thread(void *work)
{
	struct late_newprogram *l = work;

	l->err = newprogram_open(&l->opened);
}

static void late_newprogram_free(void *work)
{
	struct late_newprogram *l = work;

	newprogram_close(l->opened);
	free(l);
}

static int start_thread(struct late_newprogram *l)
{
	const struct background_work work = { .run = open_in_thread,
					      .discard = late_newprogram_free,
					      .work = l };

	return background_start(&work, &l->thread);
}

static void end_newprogram(struct session *s)
{
	struct late_newprogram *l = s->late_newprogram;

	s->late_newprogram = NULL;
	if (l && background_end(l->thread))
		late_newprogram_free(l);
}

static int take_newprogram(struct session *s, struct late_newprogram *l)
{
	int err;

	if (!l->thread) {
		if (session_now(s) < s->times.begun_ns + NEWPROGRAM_AFTER_NS)
			return -EAGAIN;
		err = start_thread(l);
		return err ? err : -EAGAIN;
	}
	if (!background_is_done(l->thread))
		return -EAGAIN;
	err = l->err ? l->err : newprogram_watch(l->opened, s->epoll_fd);
	if (!err) {
		s->newprogram = l->opened;
		l->opened = NULL;
	}
	return err == -EAGAIN ? -ENOBUFS : err;
}

static void open_newprogram(struct session *s)
{
	struct late_newprogram *l = s->late_newprogram;
	const int err = l ? take_newprogram(s, l) : -EAGAIN;

	if (err == -EAGAIN)
		return;
	if (err)
		log_info("session: the kernel does not report new programs: %s",
			 err_str(err));
	end_newprogram(s);
}

static void open_sampler(struct session *s)
{
	struct sampler *p = s->late;
	const int err = p ? p->ops->open_late(p) : -EAGAIN;

	if (err == -EAGAIN)
		return;
	s->late = NULL;
	if (err)
		p->ops->close(p);
	else
		s->sampler[s->nr_samplers++] = p;
}

void session_late_begin(struct session *s)
{
	if (!s->cfg.target)
		s->late_newprogram = calloc(1, sizeof(*s->late_newprogram));
}

void session_late_run(struct session *s)
{
	open_newprogram(s);
	open_sampler(s);
}

int session_late_wait_ms(const struct session *s)
{
	if (!s->late && !s->late_newprogram)
		return -1;
	return s->cfg.target ? TARGET_MS : SYSTEM_MS;
}

void session_late_end(struct session *s)
{
	if (s->late)
		s->late->ops->close(s->late);
	s->late = NULL;
	end_newprogram(s);
}
