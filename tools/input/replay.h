/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - what cpi record does with a file of records
 */
#ifndef CPI_TOOLS_REPLAY_H
#define CPI_TOOLS_REPLAY_H

struct replay_request {
	const char *records, *output; /* files */
	const char *program, *label;  /* or NULL */
};

/* Takes the records into a database. 0, or an error that is logged. */
int replay_records(const struct replay_request *req);

#endif
