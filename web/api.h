/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * api.h - from /api/v1/REPORT?NAME=VALUE… to the arguments of cpi
 *
 * Each report is a command of cpi that only reads. A table lists its options: those
 * that choose a file, a socket or another database are in none, so a request cannot
 * name one. A value is handed on as "--NAME=VALUE", and arguments follow "--", so a
 * value is never taken for an option. What a value may be is checked by the command.
 */
#ifndef CPI_WEB_API_H
#define CPI_WEB_API_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/textlist.h"
#include "web/target.h"

#define API_MAX_ARGV (TARGET_MAX_ARGS + TEXT_LIST_MAX + 16)

struct api_call {
	char *argv[API_MAX_ARGV + 1]; /* behind "cpi"; NULL at the end */
	int nr;
	const char *type;   /* of what it prints, as Content-Type */
	const char *report; /* a literal */
	const char *suffix; /* of a file with it: "json" */
	bool as_file;       /* the browser is to save it */
};

/*
 * Makes the call of a report on these databases. Returns 0, and call is to be ended
 * with api_call_fini(); -ENOENT if there is no such report; -EINVAL, and why says what
 * is wrong with the request; -ENOMEM.
 */
int api_call_make(const char *report, const struct target *t,
		  const struct text_list *dbs, struct api_call *call, struct buf *why);
void api_call_fini(struct api_call *call);

/*
 * Makes the call that prints a short name of what the report's epochs contain
 * (cpi-epoch(1), stamp): as long as it is the same, the report is. -ENODATA for a
 * report that depends on more; -ENOMEM or -E2BIG.
 */
int api_stamp_make(const struct api_call *report, const struct target *t,
		   const struct text_list *dbs, struct api_call *stamp);

/* Appends all reports with their options as JSON. */
void api_describe(struct buf *out);

#endif
