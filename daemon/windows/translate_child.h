/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_child.h - cpi-translate, as its parent sees it: pages of code go in,
 * micro-ops come out
 *
 * Nothing here waits. What comes is checked: each index and each target is in the page,
 * each op is one that the interpreter knows.
 */
#ifndef CPI_DAEMON_TRANSLATE_CHILD_H
#define CPI_DAEMON_TRANSLATE_CHILD_H

#include <stdbool.h>

#include "abi/translate.h"

#define TRANSLATE_CHILD_MAX_ASKED 8 /* pages at a time */

struct translate_child;

/*
 * Starts it; epoll_fd becomes readable when there is something to take. 0, or -errno as
 * helper_start().
 */
int translate_child_open(int epoll_fd, struct translate_child **out);
void translate_child_close(struct translate_child *t); /* accepts NULL */

/*
 * Asks for a page; q->magic and q->cookie are set here. 0; -EAGAIN while so many were
 * asked for that none can be; -EPIPE when it is dead; or -errno.
 */
int translate_child_ask(struct translate_child *t, struct cpi_translate_request *q,
			uint32_t *cookie);

/*
 * The next answer, in the order in which was asked: *err is 0 and *page is valid until
 * the next call, or why there is none. Returns 0, or -EAGAIN: there is none yet.
 */
int translate_child_take(struct translate_child *t, uint32_t *cookie, int *err,
			 const struct cpi_code_page **page);

#endif
