/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfg.h - basic blocks and edges of one procedure
 *
 * SOSP'97 section 6.1.1. Block 0 is the entry. A virtual exit block, the last one, has
 * no instructions: returns, tail calls, jumps out of the procedure, and calls that do
 * not return lead there. So every block reaches it, except blocks of infinite loops. A
 * call does not end a block unless it does not return.
 *
 * I1  Blocks cover every decoded instruction once and do not overlap. Blocks and
 *     instructions ascend within a part. The procedure's own part comes first, then its
 *     .cold parts, wherever they lie in the file; the exit comes last.
 * I2  edge[] is sorted by (from, to, kind); in[] lists the same edges by (to, from).
 */
#ifndef CPI_ANALYSIS_CFG_H
#define CPI_ANALYSIS_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "base/arena.h"
#include "base/buf.h"

enum edge_kind {
	EDGE_FALL, /* to the next instruction; also a conditional jump that is not taken
		    */
	EDGE_TAKEN,    /* a direct jump, conditional or not */
	EDGE_INDIRECT, /* an entry of a jump table */
	EDGE_RETURN,   /* to the exit: return */
	EDGE_LEAVE,    /* to the exit: tail call, jump out, call that does not return */
};

struct cfg_edge {
	int from, to; /* blocks */
	enum edge_kind kind;
};

struct cfg_block {
	uint64_t start, end;      /* image offsets; 0 for the exit */
	int first_insn, nr_insns; /* in cfg.insn */
	int first_out, nr_out;    /* in cfg.edge */
	int first_in, nr_in;      /* in cfg.in */
	bool missing_out;         /* ends in an indirect jump with unknown targets */
	bool landing_pad;         /* unwinding enters it, without an edge */
};

#define CFG_MAX_PARTS 8

struct cfg {
	const struct symbol *procedure;
	struct insn *insn; /* address is the link-time one */
	uint64_t bias;     /* address - bias is an instruction's image offset */
	int nr_insns;
	struct cfg_block *block;
	int nr_blocks; /* the exit included */
	int exit;
	struct cfg_edge *edge;
	int nr_edges;
	int *in;                     /* indices of edges */
	bool missing_edges;          /* any block has missing_out */
	int part[CFG_MAX_PARTS + 1]; /* first blocks of the parts, then exit */
	int nr_parts;
};

/*
 * Builds the CFG of a procedure and its .cold parts from the image's bytes. Everything
 * lives in the arena. Returns 0, -CPI_ENOCODE, -CPI_EFORMAT (machine not built in),
 * -CPI_ELIMIT (more than CFG_MAX_INSNS) or -ENOMEM.
 */
#define CFG_MAX_INSNS (1 << 20)
int cfg_build(struct image *im, struct isa *isa, const struct symbol *procedure,
	      struct arena *arena, struct cfg **out);

/* A line for each block and edge, in image offsets. */
void cfg_dump(const struct cfg *cfg, struct buf *out);

/* The block that holds an offset, or -1. */
int cfg_block_at(const struct cfg *cfg, uint64_t offset);

#endif
