/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callsfile.h - call graphs that were solved in an earlier run
 *
 * To find the factors of an image's call graph (callgraph.h), up to 500 of its
 * procedures are analysed, which takes most of the time of a report. The factors depend
 * only on the input of these analyses. So they are kept under a hash of this input, and
 * found again if nothing of it has changed, in the same epochs or in others.
 */
#ifndef CPI_REPORT_CALLSFILE_H
#define CPI_REPORT_CALLSFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/explain/callgraph.h"

/* Everything that the factors depend on. Starts as { 0 }. */
struct calls_key {
	uint64_t hash[2];
};

void calls_key_add(struct calls_key *k, const void *data, size_t size);

/*
 * Adds the samples, windows and branches that all procedures of an image have in
 * common, and the CPU.
 */
void calls_key_add_input(struct calls_key *k, const struct explain_input *in);

struct callsfile;

struct callsfile *callsfile_open(void);    /* NULL when out of memory */
void callsfile_close(struct callsfile *f); /* keeps what is new; accepts NULL */

/* The caller frees *out. 0, -ENOENT or -ENOMEM. */
int callsfile_find(struct callsfile *f, const struct calls_key *k,
		   struct callgraph **out);

bool callsfile_is_empty(const struct callsfile *f);

/* Whether callsfile_keep() took any. */
bool callsfile_has_new(const struct callsfile *f);

/*
 * For a copy of this process: appends the graphs that callsfile_keep() took since
 * callsfile_mark(). callsfile_add() adds them to f; they are untrusted.
 */
void callsfile_mark(struct callsfile *f);
int callsfile_put_new(const struct callsfile *f, struct buf *out); /* 0 or -ENOMEM */
int callsfile_add(struct callsfile *f, const uint8_t *data, size_t size);

/* Takes a graph that is solved for the next run. A failure only costs time. */
void callsfile_keep(struct callsfile *f, const struct calls_key *k,
		    const struct callgraph *g);

#endif
