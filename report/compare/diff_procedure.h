/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_procedure.h - compares the stalls and instructions of a procedure in two
 * selections
 *
 * Times are in ms per second of a side's epochs, so that sides of different length can
 * be compared. Index 0 is side A, index 1 side B.
 */
#ifndef CPI_REPORT_DIFF_PROCEDURE_H
#define CPI_REPORT_DIFF_PROCEDURE_H

#include "report/explain/summary.h"

struct diff_time {
	double side[2];
	double delta; /* B - A */
};

/* A row of cpi sum. Percentages are of the procedure's samples on that side. */
struct diff_stall {
	const char *group, *key, *text;
	struct diff_time time;
	double percent[2], least[2], most[2];
	bool is_small; /* less than half a sample on both sides */
};

/* One instruction, or two that are taken for the same one in code that was rebuilt. */
struct diff_insn {
	bool in[2]; /* which sides have it */
	uint64_t address,
		block; /* of A, or of B alone; block is where its block starts */
	uint64_t b_address;
	char *text;                           /* of A, or of B alone */
	struct diff_time time;                /* NAN on a side without it */
	struct freq_interval cpi[2], runs[2]; /* 90 % intervals: of CPI, and of the
						 number of executions */
	bool too_fast[2]; /* whether its block is too fast: calc_is_too_fast() */
};

struct diff_block {
	size_t first; /* its first instruction */
	struct diff_time time;
};

struct diff_procedure {
	const char *spec[2];
	char *name; /* of A: "PROCEDURE in IMAGE" */
	double samples[2], time[2];
	struct diff_stall stall[SUMMARY_MAX_ROWS];
	size_t nr_stalls;
	bool same_code;  /* else instructions are matched, and there are no blocks */
	bool is_matched; /* false: there are too many instructions to match */
	struct diff_insn *insn;
	size_t nr_insns;
	struct diff_block *block; /* ascending */
	size_t nr_blocks;
};

/*
 * Compares a procedure ("[IMAGE:]PROC" or "0xOFFSET") in the epochs of two specs, which
 * must outlive d. Returns 0 or an error, which is logged except for -ENOMEM. After 0
 * the caller closes d.
 */
int diff_procedure_open(const struct select_request *select, const char *a,
			const char *b, const char *procedure, struct diff_procedure *d);
void diff_procedure_close(struct diff_procedure *d);

#endif
