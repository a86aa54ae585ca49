/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stamp.h - what an answer depends on besides the question
 */
#ifndef CPI_WEB_STAMP_H
#define CPI_WEB_STAMP_H

#include "base/textlist.h"
#include "web/api.h"
#include "web/job.h"

/*
 * The key of a call whose report depends on nothing but a content, which has a name. It
 * changes every ten minutes of the server's age.
 */
void stamp_content(const struct api_call *call, const char *content, uint64_t age_ns,
		   struct job_key *key);

/*
 * The key of a call: a hash of its arguments, the program's version, and the databases
 * as they are now. A commit changes a database's WAL, and with it the key. A database
 * that cannot be looked at counts as none.
 */
void stamp_call(const struct api_call *call, const struct text_list *dbs,
		struct job_key *key);

#endif
