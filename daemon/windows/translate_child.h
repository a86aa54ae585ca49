/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_child.h - sends code to cpi-translate and receives micro-ops
 *
 * No function waits. Answers are checked: each index and each target is in the page,
 * and the interpreter knows each op.
 */
#ifndef CPI_DAEMON_TRANSLATE_CHILD_H
#define CPI_DAEMON_TRANSLATE_CHILD_H

#include <stdbool.h>

#include "abi/translate.h"

#define TRANSLATE_CHILD_MAX_ASKED 8 /* requests at a time */

struct translate_child;

/*
 * Starts cpi-translate; epoll_fd becomes readable when there is an answer. If epoll_fd
 * is -1, the caller looks for answers from time to time. Returns 0, or -errno as
 * helper_start() does.
 */
int translate_child_open(int epoll_fd, struct translate_child **out);
void translate_child_close(struct translate_child *t); /* accepts NULL */

/*
 * Requests a page, or forms; sets q->magic and q->cookie. 0; -EAGAIN if too many
 * requests are under way; -EPIPE if cpi-translate is dead; or -errno.
 */
int translate_child_ask(struct translate_child *t, struct cpi_translate_request *q,
			uint32_t *cookie);

/*
 * The next answer, in the order of requests. If *err is 0, *reply is valid until the
 * next call, was checked, and has forms only if they were asked for; else *err is the
 * reason why there is none. Returns 0, or -EAGAIN if there is no answer yet.
 */
int translate_child_take(struct translate_child *t, uint32_t *cookie, int *err,
			 struct cpi_translate_reply **reply);

/* CPU time of its answers so far, as it says, but at most the time that has passed. */
uint64_t translate_child_cpu_ns(const struct translate_child *t);

#endif
