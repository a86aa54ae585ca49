/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfg_code.h - which bytes of a procedure are instructions, and where they lead
 *
 * The first half of cfg_build(): explores from the entry and the landing pads, resolves
 * jump tables, and then decodes the bytes that were not reached. All addresses are
 * link-time ones; everything lives in the arena.
 */
#ifndef CPI_ANALYSIS_CFG_CODE_H
#define CPI_ANALYSIS_CFG_CODE_H

#include "analysis/cfg/cfg.h"

/* The state of each byte. */
enum code_state {
	CODE_START = 1 << 0,    /* an instruction begins here */
	CODE_INSIDE = 1 << 1,   /* inside of an instruction */
	CODE_BAD = 1 << 2,      /* cannot be decoded */
	CODE_LEADER = 1 << 3,   /* a block begins */
	CODE_LANDING = 1 << 4,  /* unwinding enters here */
	CODE_NORETURN = 1 << 5, /* a call that does not return */
};

/* A piece of the image: the procedure itself, or a .cold part. */
struct code_part {
	uint64_t start, size;
	uint8_t *bytes, *state;
};

struct code_jump {
	uint64_t from, to;
};

/* An indirect jump and its targets. */
struct code_indirect {
	uint64_t at;
	enum { INDIRECT_UNKNOWN, INDIRECT_LEAVES, INDIRECT_TABLE } kind;
	uint64_t table;   /* address */
	uint64_t *target; /* ascending, each once */
	int nr_targets;
};

/* Constants that the procedure puts into a register and that may be tables. */
#define CODE_MAX_CONSTANTS 64

struct code_constants {
	int64_t value[CODE_MAX_CONSTANTS];
	uint64_t at[CODE_MAX_CONSTANTS]; /* the instruction */
	int nr;
	size_t nr_insns; /* instructions that were known when this was filled */
};

struct code {
	struct image *im;
	struct isa *isa;
	struct arena *arena;
	const struct symbol *procedure;
	uint64_t bias; /* address - image offset, of all parts */
	struct code_part part[CFG_MAX_PARTS];
	int nr_parts;
	size_t nr_insns;
	uint64_t *work; /* addresses to explore */
	size_t nr_work, cap_work;
	struct code_jump
		*jump; /* direct jumps within the procedure; by (to, from) if sorted */
	size_t nr_jumps, cap_jumps;
	bool sorted;
	struct code_indirect *indirect;
	size_t nr_indirects, cap_indirects;
	struct code_constants constants[32];
};

/*
 * Fills c, in which only procedure, im, isa and arena are set and all else is 0.
 * Returns 0, -CPI_ENOCODE, -CPI_ELIMIT or -ENOMEM.
 */
int code_explore(struct code *c);

/* Finds the part of an address and its index *at there; NULL: it is in no part. */
struct code_part *code_part_at(const struct code *c, uint64_t address, size_t *at);

/* Returns the state of an address; 0 if it is in no part. */
uint8_t code_state_at(const struct code *c, uint64_t address);

/*
 * Decodes the instruction that begins at address (CODE_START), with the size that the
 * state of its bytes gives.
 */
void code_insn_at(const struct code *c, uint64_t address, struct insn *out);

/*
 * Whether a jump to address stays in the procedure. May find a new part and add it.
 * certain: the jump cannot lead to another procedure.
 */
bool code_is_inside(struct code *c, uint64_t address, bool certain);

/* The indirect jump at an address, or NULL. */
const struct code_indirect *code_indirect_at(const struct code *c, uint64_t address);

/* Returns the first known jump to address, and the number of such jumps. */
const struct code_jump *code_jumps_to(struct code *c, uint64_t address, size_t *nr);

/* Finds the instruction that ends at address and falls through to it. */
bool code_falls_into(const struct code *c, uint64_t address, struct insn *out);

/* Whether control may continue after insn. */
bool code_falls_through(const struct code *c, const struct insn *insn);

/*
 * Finds the targets of an indirect jump (cfg_table.c). Fills kind and, for a table,
 * target. Returns 0 or -ENOMEM.
 */
int code_resolve(struct code *c, struct code_indirect *jump);

/* Whether a function of this name never returns. (analysis/cfg/cfg_noreturn.c) */
bool code_is_noreturn(const char *raw_name);

#endif
