/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.h - reads marks: events on a machine's time line, such as deployments
 */
#ifndef CPI_DB_MARKS_H
#define CPI_DB_MARKS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "db/core/db.h"
#include "db/profile/selection.h"

struct query_mark {
	uint64_t at_ns;
	char *host, *text;
};

/* In order of time. */
struct query_marks {
	struct query_mark *mark;
	size_t nr;
};

/*
 * Read all marks, or those of the epochs' machines between the first epoch's begin and
 * the last one's end. They return 0 or an error.
 */
int query_marks(struct db *db, struct query_marks *out);
int query_marks_of(struct db *db, const struct query_epochs *e,
		   struct query_marks *out);
void query_marks_fini(struct query_marks *m);

/*
 * Returns the TEXT of "mark:TEXT", which may be a specification of epochs or an end of
 * one; NULL for other specifications.
 */
const char *query_mark_name(const char *spec);

/*
 * Finds the time of the newest mark with this text. platforms is a JSON array of
 * platform ids whose machines count, or NULL for all. Returns 0, -ENOENT, or SQLite's
 * error.
 */
int query_mark_find(sqlite3 *h, const char *text, const char *platforms,
		    uint64_t *at_ns);

#endif
