/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer.h - sends a reply: headers, compression, conditions and ranges
 *
 * Every answer has the headers that keep a browser from running, embedding or guessing
 * anything.
 */
#ifndef CPI_WEB_ANSWER_H
#define CPI_WEB_ANSWER_H

#include <microhttpd.h>
#include <stdbool.h>

#include "web/reply.h"

/* What is said beside the reply; NULL where there is nothing. */
struct answer_extra {
	const char *name, *value; /* a header more */
	const char *file;         /* the browser is to save it under this name */
	bool close;               /* the connection is closed behind the answer */
};

/* Queues the reply. MHD_NO when out of memory: the connection is closed. */
enum MHD_Result answer_send(struct MHD_Connection *mhd, struct reply *reply,
			    const struct answer_extra *extra);

#endif
