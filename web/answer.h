/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer.h - sends a reply, with HTTP headers, compression, conditions and ranges
 *
 * Every answer has headers that forbid the browser to run scripts of other servers, to
 * show the page inside another page, and to guess a content type.
 */
#ifndef CPI_WEB_ANSWER_H
#define CPI_WEB_ANSWER_H

#include <microhttpd.h>
#include <stdbool.h>

#include "web/reply.h"

/* What an answer has besides the reply. Members may be NULL. */
struct answer_extra {
	const char *name, *value; /* an additional header */
	const char *file;         /* the browser saves the answer under this name */
	bool close;               /* the connection is closed after the answer */
};

/*
 * Queues the reply. Returns MHD_NO when out of memory; then the connection is closed.
 */
enum MHD_Result answer_send(struct MHD_Connection *mhd, struct reply *reply,
			    const struct answer_extra *extra);

#endif
