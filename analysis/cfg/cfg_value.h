/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfg_value.h - values of registers and memory on a path of instructions
 *
 * A value is a constant plus a multiple of an unknown, or plus an entry of a table
 * whose index is an unknown. A register that was set before the path is assumed to have
 * one of the constants that the procedure writes to it.
 */
#ifndef CPI_ANALYSIS_CFG_VALUE_H
#define CPI_ANALYSIS_CFG_VALUE_H

#include "analysis/cfg/cfg_code.h"

#define VALUE_MAX_SYMBOLS 1024 /* enough for a path with 40 calls */
#define VALUE_MAX_PLACES  16
#define VALUE_NR_GENERAL  32
#define VALUE_MAX_ENTRIES 65536 /* of a table with a bound */
#define VALUE_MAX_GUESSED 1024  /* of a table without a bound */

/* An unknown number. */
struct symbol_value {
	int64_t low, high;
	bool exact;   /* high comes from a comparison; else the table may end before */
	uint8_t reg;  /* the register that had it at the start of the path; or ISA_NONE
		       */
	bool indexed; /* loaded from memory with an index */
};

/* addend + scale * unknown, or addend + entry << shift. */
struct value {
	int64_t addend;
	int symbol; /* in evaluation.symbol; 0: the value is the addend */
	int64_t scale;
	bool is_entry; /* of the table at table + scale * unknown */
	int64_t table;
	int loaded; /* the symbol that stands for the entry itself */
	uint8_t size, shift;
	bool is_signed;
};

/* Memory that the code read or wrote. Reading the same address again gives value. */
struct memory_cell {
	struct value address, value;
};

struct evaluation {
	struct code *c;
	uint64_t jump; /* address */
	struct value reg[VALUE_NR_GENERAL];
	struct symbol_value symbol[VALUE_MAX_SYMBOLS];
	int nr_symbols;
	struct memory_cell place[VALUE_MAX_PLACES];
	int nr_places;
	int which_constant;    /* which of a register's constants is tried */
	int nr_constants;      /* constants to try, as known so far */
	struct value compared; /* operand of the last comparison */
	int64_t with;
	bool has_compared;
};

struct step {
	struct insn insn;
	bool taken; /* the path continues at the target of the jump */
};

/*
 * Begins a path to the indirect jump at an address. A register that was set before the
 * path gets its constant number which_constant.
 */
void value_begin(struct evaluation *e, struct code *c, uint64_t jump,
		 int which_constant);

/* Executes the path's next step. */
void value_step(struct evaluation *e, const struct step *step);

/* Returns the value of insn's memory operand. */
struct value value_of_memory(struct evaluation *e, const struct insn *insn,
			     unsigned int size, bool is_signed);

#endif
