/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranked_insns.h - keeps the instructions with the greatest amounts, out of any
 * number of candidates
 *
 * I1  Memory is bounded: twice the limit is kept before the least are dropped.
 * I2  The result does not depend on the order in which instructions are added.
 */
#ifndef CPI_REPORT_RANKED_INSNS_H
#define CPI_REPORT_RANKED_INSNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/blame/blame.h"
#include "base/buf.h"
#include "db/profile/records.h"

#define RANKED_INSNS_MAX     100000 /* of --limit */
#define RANKED_INSNS_DEFAULT 20

/* Strings are owned; NULL if they do not apply. */
struct ranked_insn {
	double amount;    /* determines the order; in samples */
	double samples;   /* as sampled */
	double cycles;    /* of one execution; NAN: not known */
	double frequency; /* NAN: not known */
	/* The same with 90 % intervals; NANs where not known. */
	struct freq_interval takes, runs;
	bool too_fast; /* its block is (calc_is_too_fast()) */
	uint64_t offset, address;
	char *procedure, *image, *build_id, *text, *file;
	int line; /* 0 without file */
	/* In a list of stalls. */
	bool dynamic;
	char *reasons, *culprits;
	/* In a list of hardware records: the records at its offset of one event. */
	struct records *records;
	size_t event;
};

struct ranked_insns {
	size_t limit;
	struct buf ranked; /* struct ranked_insn */
	double least;      /* lesser amounts are not added */
};

/* limit 0: RANKED_INSNS_DEFAULT. */
void ranked_insns_init(struct ranked_insns *s, uint64_t limit);
void ranked_insns_fini(struct ranked_insns *s);

/*
 * Adds an instruction with this amount, whose other members are 0; *out is NULL if
 * enough others have more. The caller fills it before the next call. 0 or -ENOMEM.
 */
int ranked_insns_add(struct ranked_insns *s, double amount, struct ranked_insn **out);

/* The instructions, at most as many as the limit, the greatest first. */
const struct ranked_insn *ranked_insns_sorted(struct ranked_insns *s, size_t *nr);

#endif
