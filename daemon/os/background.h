/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * background.h - work that a thread of low priority does once
 *
 * For what a daemon needs, but not at its start. The owner goes on meanwhile, and may
 * give the work up at any time without waiting for it.
 */
#ifndef CPI_DAEMON_BACKGROUND_H
#define CPI_DAEMON_BACKGROUND_H

#include <stdbool.h>

struct background;

struct background_work {
	void (*run)(void *work);
	/* frees the work, if the owner gave it up before run() returned */
	void (*discard)(void *work);
	void *work;
	bool is_urgent; /* at the owner's own priority */
};

/*
 * Starts the thread. On success the work is the thread's until background_is_done(), or
 * for ever if the owner gives it up. Returns 0 or -errno.
 */
int background_start(const struct background_work *w, struct background **out);

/* Whether run() has returned. From then on the work is the owner's. */
bool background_is_done(struct background *b);

/*
 * Frees b; NULL is done. Returns whether run() has returned. If it has not, the thread
 * goes on alone and calls discard() at its end; the end of the process ends it at once.
 */
bool background_end(struct background *b);

#endif
