/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack.h - what cycles were spent on, by the weights of TIP records (MICRO'21, Fig. 7)
 *
 * A record says that an instruction stalled; of what kind it is, the binary says, or
 * the trace's text where there is none.
 */
#ifndef CPI_TOOLS_STACK_H
#define CPI_TOOLS_STACK_H

#include "tools/explaining.h"
#include "tools/json.h"
#include "tools/table.h"

#define STACK_ROWS(X)                             \
	X(EXECUTION, "execution", "Execution")    \
	X(ALU, "alu_stall", "ALU stall")          \
	X(LOAD, "load_stall", "Load stall")       \
	X(STORE, "store_stall", "Store stall")    \
	X(FRONT_END, "front_end", "Front-end")    \
	X(MISPREDICT, "mispredict", "Mispredict") \
	X(FLUSH, "misc_flush", "Misc. flush") /* exceptions, too */

enum stack_row {
#define STACK_ENUM(name, key, text) STACK_##name,
	STACK_ROWS(STACK_ENUM)
#undef STACK_ENUM
		NR_STACK_ROWS
};

/* In samples of the first stream of time. Starts as { 0 }. */
struct stack {
	double row[NR_STACK_ROWS];
	double all;
};

struct stack_insn {
	uint64_t offset;
	const char *text; /* NULL where it is not known */
	struct stack stack;
};

/* The instructions of a procedure that have a text or weights, ascending. */
struct stack_list {
	struct stack_insn *insn;
	size_t nr;
	struct stack sum;
	struct query_instructions named; /* which the texts are of */
};

/*
 * Of what is explained last, and of x's image, which is loaded. sum.all is 0 where
 * nothing has weights. 0 or -ENOMEM, or what SQLite reports.
 */
int stack_list(struct explainer *x, const struct explanation *ex,
	       struct stack_list *out);
void stack_list_fini(struct stack_list *list);

/* Adds up the whole selection, or the place that was found. Errors are logged. */
int stack_sum(struct explainer *x, struct stack *out);

/* Text: a table of its own. JSON: a member "cycle_stack". */
int stack_print(const struct stack *s);
void stack_json(struct json *j, const struct stack *s);

/* A procedure that has no code, but weights. 0 or -ENOMEM. */
int stack_print_list(const struct explainer *x, const struct explanation *ex,
		     const struct stack_list *list);
void stack_json_list(const struct explainer *x, const struct explanation *ex,
		     const struct stack_list *list, bool one_line);

#endif
