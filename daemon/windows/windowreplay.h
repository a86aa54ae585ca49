/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowreplay.h - the operands of a window, by interpreting it again
 *
 * The kernel side records no operands. If it is asked to, it adds the registers with
 * which a window began and what its loads returned (struct cpi_window_origin). With
 * these and the same micro-ops, this room interprets the window again, with the same
 * interpreter (kmod/window.h), and so knows each operand.
 *
 * I1  A window whose replay differs from its record in any way has no operands.
 * I2  An origin holds contents of registers and memory. It is erased after its replay,
 *     with what the replay computed from it, and goes nowhere else; only operands leave
 *     this room, and db/profile/operands.h says which of these are stored. The buffers
 *     of the kernel side keep origins until others overwrite them.
 */
#ifndef CPI_DAEMON_WINDOWREPLAY_H
#define CPI_DAEMON_WINDOWREPLAY_H

#include <stddef.h>

#include "abi/window_bpf.h"
#include "analysis/windows/walk.h"
#include "db/profile/operands.h"

struct replay_operand {
	uint64_t at;        /* address of the instruction */
	uint8_t kind, size; /* as in struct operand */
	bool known;
	bool taken;
	int64_t value;
};

/* The packed page of an address of the window's process; NULL: there is none. */
typedef const union cpi_code_cell *windowreplay_find_fn(void *ctx, uint64_t address);

struct windowreplay;

struct windowreplay *windowreplay_new(void); /* NULL when out of memory */
void windowreplay_free(struct windowreplay *replay);

/*
 * Interprets w again; form as walk_window() has it. Returns the number of operands,
 * which are in *out until the next call, in the order of execution; or -EBADMSG (I1).
 * They are at most OPERANDS_MAX_WINDOW; later ones are left out.
 */
int windowreplay_run(struct windowreplay *replay, const struct cpi_window *w,
		     const struct cpi_window_origin *origin, windowreplay_find_fn *find,
		     walk_form_fn *form, void *ctx, const struct replay_operand **out);

/* Erases what the last windows left here; their operands are gone then. */
void windowreplay_forget(struct windowreplay *replay);

#endif
