/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile_print.h - what a compiler profile would contain, as text
 *
 * For cpi export --check, which writes no profile.
 */
#ifndef CPI_TOOLS_COMPILER_PROFILE_PRINT_H
#define CPI_TOOLS_COMPILER_PROFILE_PRINT_H

#include "report/feedback/compiler_profile.h"

/* Text that names at most limit functions; 0: as many as usual. 0 or -ENOMEM. */
int compiler_profile_print_check(const struct compiler_profile *f, uint64_t limit);

#endif
