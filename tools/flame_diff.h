/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_diff.h - which procedures of a flame graph changed, as cpi diff judges
 */
#ifndef CPI_TOOLS_FLAME_DIFF_H
#define CPI_TOOLS_FLAME_DIFF_H

#include "base/buf.h"
#include "tools/cmd.h"
#include "tools/flame.h"

/*
 * By frame, what cpi diff A B finds in the flat profiles; the caller frees it. note
 * gets a line on what that rests on and what grew most. Errors are logged. 0 or
 * negative.
 */
int flame_judge(const struct cmd_context *ctx, const struct frames *frames,
		struct flame_change **out, struct buf *note);

#endif
