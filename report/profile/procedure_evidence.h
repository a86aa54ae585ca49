/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procedure_evidence.h - which procedures' ticks are time, for reports of instructions
 *
 * Ticks and random samples interrupt a program alike, so both say at which instruction
 * it was: within a program that computes, ticks are as far from random samples as those
 * are from each other, down to the instruction (PERFORMANCE.md). What ticks get wrong
 * is how much time whole programs have. So a procedure that departs (evidence.h) has
 * its random samples alone, and any other one has both at each of its instructions.
 */
#ifndef CPI_REPORT_PROCEDURE_EVIDENCE_H
#define CPI_REPORT_PROCEDURE_EVIDENCE_H

#include "report/select/evidence.h"
#include "report/select/imagecache.h"
#include "report/select/select.h"

struct procedure_evidence;

/*
 * Compares the procedures of a selection, of which ev are the events; both must outlive
 * it. *out is NULL where there is one kind of samples of time. 0, or an error that is
 * logged.
 */
int procedure_evidence_open(const struct select_request *req,
			    const struct selection *sel, const struct events *ev,
			    struct procedure_evidence **out);
void procedure_evidence_close(struct procedure_evidence *e); /* accepts NULL */

/* How its events count in time. */
const struct evidence *procedure_evidence_fit(const struct procedure_evidence *e);

/*
 * Whether random samples alone are the time of a procedure: it departs, or is the
 * kernel's. symbol may be NULL.
 */
bool procedure_evidence_random_only(const struct procedure_evidence *e,
				    const struct query_image *image,
				    const struct symbol *symbol);

/* The same of samples without an image, by their reason; e may be NULL. */
bool procedure_evidence_unknown_random_only(const struct procedure_evidence *e,
					    const char *reason);

/* Time without an image, in ns. */
double procedure_evidence_unknown(const struct procedure_evidence *e);

#endif
