/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procedure_evidence.h - in which procedures ticks count as time, for reports by
 * instruction
 *
 * Within a program that computes, ticks are spread over the instructions like random
 * samples: they differ from random samples no more than two sets of random samples
 * differ (PERFORMANCE.md). But ticks may show a wrong time for a whole program. So if
 * the two kinds disagree about a procedure (it "departs", evidence.h), only its random
 * samples count. In all other procedures both kinds count at each instruction.
 */
#ifndef CPI_REPORT_PROCEDURE_EVIDENCE_H
#define CPI_REPORT_PROCEDURE_EVIDENCE_H

#include "base/buf.h"
#include "report/select/evidence.h"
#include "report/select/imagecache.h"
#include "report/select/select.h"

struct procedure_evidence;

/*
 * Compares the procedures of a selection. ev has its events; sel and ev must outlive
 * *out. *out is NULL if there are no ticks, or only ticks. Returns 0 or an error, which
 * is logged.
 */
int procedure_evidence_open(const struct select_request *req,
			    const struct selection *sel, const struct events *ev,
			    struct procedure_evidence **out);
void procedure_evidence_close(struct procedure_evidence *e); /* accepts NULL */

/* Returns the factors by which ticks and random samples are combined. */
const struct evidence *procedure_evidence_fit(const struct procedure_evidence *e);

/*
 * Returns how samples in a procedure count. symbol may be NULL; if e is NULL, only
 * random samples count.
 */
struct evidence_use procedure_evidence_use(const struct procedure_evidence *e,
					   const struct query_image *image,
					   const struct symbol *symbol);

/* The same for samples without an image, by reason. */
struct evidence_use procedure_evidence_unknown_use(const struct procedure_evidence *e,
						   const char *reason);

/*
 * Appends the id of each image (int64_t) that has samples in a procedure of this name
 * (procname.h). Without e, or if there is none, appends nothing.
 */
void procedure_evidence_images(const struct procedure_evidence *e, const char *name,
			       struct buf *ids);

/* Returns the time of all samples without an image, in ns. */
double procedure_evidence_unknown(const struct procedure_evidence *e);

#endif
