/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cyclestack.h - how cycles were spent, by the weights of TIP records (MICRO'21,
 * Fig. 7)
 *
 * A record says that an instruction stalled. The instruction's kind comes from the
 * trace's text, or else from the binary.
 */
#ifndef CPI_REPORT_CYCLESTACK_H
#define CPI_REPORT_CYCLESTACK_H

#include "report/explain/explainer.h"

#define CYCLESTACK_ROWS(X)                        \
	X(EXECUTION, "execution", "Execution")    \
	X(ALU, "alu_stall", "ALU stall")          \
	X(LOAD, "load_stall", "Load stall")       \
	X(STORE, "store_stall", "Store stall")    \
	X(FRONT_END, "front_end", "Front-end")    \
	X(MISPREDICT, "mispredict", "Mispredict") \
	X(FLUSH, "misc_flush", "Misc. flush") /* exceptions, too */

enum cyclestack_row {
#define CYCLESTACK_ENUM(name, key, text) CYCLESTACK_##name,
	CYCLESTACK_ROWS(CYCLESTACK_ENUM)
#undef CYCLESTACK_ENUM
		NR_CYCLESTACK_ROWS
};

/* In samples of the first stream of time. Starts as { 0 }. */
struct cyclestack {
	double row[NR_CYCLESTACK_ROWS];
	double all;
};

struct cyclestack_insn {
	uint64_t offset;
	const char *text; /* NULL if it is not known */
	struct cyclestack stack;
};

/* The instructions of a procedure that have a text or weights, ascending. */
struct cyclestack_list {
	struct cyclestack_insn *insn;
	size_t nr;
	struct cyclestack sum;
	struct query_instructions named; /* owns the texts */
};

/*
 * The list of the newest explanation's procedure; x must have its image loaded. sum.all
 * is 0 if no sample has weights. 0, -ENOMEM, or an error of SQLite.
 */
int cyclestack_list(const struct explainer *x, const struct explanation *ex,
		    struct cyclestack_list *out);
void cyclestack_list_fini(struct cyclestack_list *list);

/* Adds up the whole selection (place is NULL), or a place. Errors are logged. */
int cyclestack_sum(const struct explainer *x, const struct found_place *place,
		   struct cyclestack *out);

#endif
