/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values.h - the values of a procedure's instructions that windows saw, as a report
 */
#ifndef CPI_REPORT_VALUES_H
#define CPI_REPORT_VALUES_H

#include "analysis/values/operand_values.h"
#include "analysis/values/values.h"
#include "report/explain/explainer.h"

/* The name of a target; a member is NULL if it is not known. */
struct values_name {
	char *procedure; /* "sort", or "sort+0x12" */
	char *image;
};

/* A jump or call, or a loop; values beyond the limit are left out. */
struct values_site {
	const struct value_site *from;
	char *text;               /* of the instruction */
	size_t nr;                /* values to show */
	double others;            /* share of the values that are left out */
	struct values_name *name; /* of those to show; NULL: they are iterations */
};

/* A load or store whose addresses are in enough windows. */
struct values_access {
	int insn;
	char *text;
	const struct accesses_insn *from;
	uint64_t windows; /* that have an address */
	/* Shares of executions with known alignment. */
	struct interval alignment[ACCESSES_ALIGNMENTS];
	struct interval aligned; /* to the bytes of the largest access */
	struct interval split;   /* of known ones: bytes in two lines */
	uint32_t always;         /* the largest alignment that all have, at most 64; 0:
				    older versions recorded no alignments */
};

/* An operand of an instruction; values beyond the limit are left out. */
struct values_operand {
	const struct operand_site *from;
	char *text; /* of the instruction */
	size_t nr;  /* values to show */
	double others;
	bool is_repeat; /* of rep movs or rep stos, not of a call */
	char *hint;     /* what to specialise for, or NULL */
};

struct values_report {
	const struct scope *scope;
	const struct found_place *place;
	const struct cfg *cfg;
	struct image *im;
	struct values_site *site; /* as in struct values */
	size_t nr_sites;
	struct values_access *access; /* by insn */
	size_t nr_accesses;
	struct values_operand *operand; /* by insn and kind */
	size_t nr_operands;
};

/*
 * The values in a place, at most limit of each site. Errors are logged, except -ENOMEM.
 * r is valid until x explains something else. The caller frees r, also after an error.
 */
int values_report_make(struct explainer *x, const struct found_place *place,
		       size_t limit, struct values_report *r);
void values_report_fini(struct values_report *r);

/*
 * Sets *out to the *nr operands of an explanation's procedure that windows saw, with at
 * most limit values of each. The caller frees *out with values_operands_free(), also
 * after an error. 0 or -ENOMEM.
 */
int values_operands_find(struct explainer *x, const struct explanation *ex,
			 size_t limit, struct values_operand **out, size_t *nr);
void values_operands_free(struct values_operand *operand, size_t nr);

/* The text of an instruction; the caller frees it. NULL when out of memory. */
char *values_insn_text(const struct explainer *x, const struct explanation *ex,
		       int insn);

/* The name of a kind, as in JSON. */
const char *values_operand_kind(enum operand_kind kind);

#endif
