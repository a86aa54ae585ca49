/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwindcodes.h - code made at run time that call chains of one process may lead
 * through
 *
 * A process may have a hundred thousand such pieces, and one chain is in few: those
 * that a register or a word of the stack's copy points into.
 */
#ifndef CPI_DAEMON_UNWINDCODES_H
#define CPI_DAEMON_UNWINDCODES_H

#include "daemon/jit/jit.h"
#include "daemon/stacks/stacksampler.h"

#define UNWINDCODES_MAX 1024

/* Those that were met and have tables; ascending, they do not overlap. Starts as { 0 }.
 */
struct unwindcodes {
	struct jit_tables *code;
	size_t nr;
};

/*
 * Adds those that a sample of p with registers points into, as they were then; what
 * they replaced goes. When there are too many, or nobody knows what was there then, it
 * begins anew.
 */
void unwindcodes_meet(struct unwindcodes *c, struct jit *j, const struct process *p,
		      const struct chain_sample *s);
void unwindcodes_fini(struct unwindcodes *c);

#endif
