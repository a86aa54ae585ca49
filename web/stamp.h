/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stamp.h - makes the cache key of a call: the question, and the data that its answer
 * depends on
 */
#ifndef CPI_WEB_STAMP_H
#define CPI_WEB_STAMP_H

#include "base/textlist.h"
#include "web/api.h"
#include "web/job.h"

/*
 * The key of the question alone, without the data that its answer depends on: a hash of
 * the arguments and of the program's version.
 */
void stamp_question(const struct api_call *call, struct job_key *key);

/*
 * The key of a question whose answer depends only on the contents of epochs. `content`
 * is the stamp of these epochs, and age_ns the time since the server started. The key
 * also changes every ten minutes of age_ns, so that changed debug files and source
 * files are read again.
 */
void stamp_content(const struct job_key *question, const char *content, uint64_t age_ns,
		   struct job_key *key);

/*
 * The key of a call: a hash of its arguments, the program's version, and the databases
 * as they are now; the minute, too, if the arguments have times that move with the
 * clock. A commit changes a database's WAL, and with it the key. A database that cannot
 * be read counts as missing.
 */
void stamp_call(const struct api_call *call, const struct text_list *dbs,
		struct job_key *key);

#endif
