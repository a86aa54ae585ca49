/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - imports a file of TIP records, for cpi record --replay
 */
#ifndef CPI_TOOLS_REPLAY_H
#define CPI_TOOLS_REPLAY_H

struct replay_request {
	const char *records, *output; /* files */
	const char *program, *label;  /* or NULL */
};

/* Imports the records into a database. Returns 0, or an error, which is logged. */
int replay_records(const struct replay_request *req);

#endif
