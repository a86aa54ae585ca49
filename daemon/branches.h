/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branches.h - stacks of branches, as processors record them, and their edges
 *
 * Live samples and those of a recording come as the same stacks.
 */
#ifndef CPI_DAEMON_BRANCHES_H
#define CPI_DAEMON_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct branch {
	uint64_t from, to;
	uint16_t cycles; /* since the branch before; 0: not known */
	bool mispredicted;
};

struct branch_stack {
	uint64_t time_ns;
	uint32_t tgid;
	int event;
	const struct branch *branch; /* the newest first */
	size_t nr;
};

struct attribution;

/*
 * Adds all branches of a sample, and the runs between each and the next, to the tally
 * of a. Branches from or to unknown places are from or to image NULL, offset 0. Returns
 * 0, or -ENOMEM, -EOVERFLOW or -CPI_ELIMIT when some are left out.
 */
int attribute_branches(struct attribution *a, const struct branch_stack *s);

#endif
