/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cat_stacks.h - what cpi cat --stacks prints
 */
#ifndef CPI_TOOLS_CAT_STACKS_H
#define CPI_TOOLS_CAT_STACKS_H

#include "tools/cmd.h"
#include "tools/select.h"

/* 0 or a negative error. */
int cat_stacks(const struct cmd_context *ctx, const struct selection *sel);

#endif
