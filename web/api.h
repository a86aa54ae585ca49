/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * api.h - from /api/v1/REPORT?NAME=VALUE… to the arguments of cpi
 *
 * Each report is a command of cpi that only reads. A table lists the options that a
 * request may use. It has no option that selects a file, a socket or another database,
 * so a request cannot name one. A value is passed on as "--NAME=VALUE", and arguments
 * follow "--", so a value is never parsed as an option. The command itself checks the
 * values.
 */
#ifndef CPI_WEB_API_H
#define CPI_WEB_API_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/textlist.h"
#include "web/target.h"

#define API_MAX_ARGV (TARGET_MAX_ARGS + TEXT_LIST_MAX + 16)

struct api_call {
	char *argv[API_MAX_ARGV + 1]; /* arguments after "cpi"; the last is NULL */
	int nr;
	const char *type;   /* Content-Type of the output */
	const char *report; /* a literal */
	const char *suffix; /* of the file name: "json" */
	bool as_file;       /* the browser saves the answer as a file */
};

/*
 * Makes the call of a report on these databases. Returns 0, and then the caller ends
 * call with api_call_fini(); -ENOENT if there is no such report; -EINVAL, and why says
 * what is wrong with the request; or -ENOMEM.
 */
int api_call_make(const char *report, const struct target *t,
		  const struct text_list *dbs, struct api_call *call, struct buf *why);
void api_call_fini(struct api_call *call);

/*
 * Makes the call of "cpi epoch stamp", which prints a hash of the contents of the
 * report's epochs. While the hash is the same, the report is the same. Returns 0;
 * -ENODATA for a report that also depends on other data, and for a store, which takes
 * as long to make a stamp as a report; -ENOMEM or -E2BIG.
 */
int api_stamp_make(const struct api_call *report, const struct target *t,
		   const struct text_list *dbs, struct api_call *stamp);

/* Whether one of the databases is the store of a fleet, which is on other machines. */
bool api_has_store(const struct text_list *dbs);

/*
 * Appends all reports with their options as JSON, and whether those of a fleet work on
 * these databases.
 */
void api_describe(const struct text_list *dbs, struct buf *out);

#endif
