/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwindcodes.h - the run-time code of a process that its call chains may contain
 *
 * A process may have a hundred thousand code objects, but one chain contains only few
 * of them: those that a register or a word of the stack's copy points to.
 */
#ifndef CPI_DAEMON_UNWINDCODES_H
#define CPI_DAEMON_UNWINDCODES_H

#include "daemon/jit/jit.h"
#include "daemon/stacks/stacksampler.h"

#define UNWINDCODES_MAX 1024

/*
 * The code objects that were found and have tables; ascending and without overlap.
 * Starts as { 0 }.
 */
struct unwindcodes {
	struct jit_tables *code;
	size_t nr;
};

/*
 * Adds the code objects of p that the registers or the stack of sample s point to,
 * in their state at the sample's time. Removes older code objects that overlap them.
 * If there are too many, or if it is not known what was there, starts again with
 * none.
 */
void unwindcodes_meet(struct unwindcodes *c, struct jit *j, const struct process *p,
		      const struct chain_sample *s);
void unwindcodes_fini(struct unwindcodes *c);

#endif
