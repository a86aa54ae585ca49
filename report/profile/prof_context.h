/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_context.h - rows by context: their names, and their totals
 *
 * Each argument by is an enum prof_by for which prof_contexts has a name.
 */
#ifndef CPI_REPORT_PROF_CONTEXT_H
#define CPI_REPORT_PROF_CONTEXT_H

#include "report/profile/prof.h"

/* The command of a process that nothing is known of. */
#define UNKNOWN_COMM "[unknown]"

struct prof_context_name {
	const char *name; /* a constant, or a pointer to a member below */
	char value[CONTEXT_VALUE_MAX + 1];
	bool contained; /* container is set */
	struct cgroup_container container;
	char unit[CGROUPNAME_MAX];
};

/*
 * Finds the name that rows by this kind show for a context; "" is no context. The name
 * of a container is in db.
 */
void prof_context_name(struct db *db, int by, const char *context,
		       struct prof_context_name *out);

/*
 * Whether samples without an image belong to the row of their context. If nothing is
 * known of their process, they belong to the row of their reason.
 */
bool prof_context_takes_unknown(const char *context);

/*
 * Sets left[i] to the samples of losses->loss[i] that are in no row by context, or to 0
 * if its class is not LOSS_UNKNOWN. counted[stream] is how many unknown samples are in
 * rows by context; this function assigns them to losses, and subtracts those assigned.
 */
void prof_context_left(const struct query_streams *streams,
		       const struct query_losses *losses, uint64_t *counted,
		       uint64_t *left);

/*
 * Reads the totals of the selection by contexts, as query_contexts() does, and returns
 * its errors. If only commands are needed, reads the totals by command, which every
 * database has.
 */
int prof_context_query(struct db *db, const struct query_selection *sel,
		       unsigned int kinds, struct query_comms *out);

/*
 * The same for a part of a selection, such as one epoch. Other epochs may have the
 * profiles by these kinds. If this part has none, its samples get the context "".
 */
int prof_context_query_part(struct db *db, const struct query_selection *sel,
			    unsigned int kinds, struct query_comms *out);

/* Like select_failed(); if profiles by these kinds are missing, logs what to do. */
void prof_context_failed(unsigned int kinds, const struct selection *sel, int err);

/* Returns 1 << kind of context; 0 if by is not a kind of context. */
unsigned int prof_context_kind(int by);

/* Returns the bits of all kinds of context that distinguish rows. */
unsigned int prof_context_kinds(const struct prof_request *req);

#endif
