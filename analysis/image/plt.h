/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plt.h - names for the stubs through which a file calls functions of other files
 */
#ifndef CPI_ANALYSIS_PLT_H
#define CPI_ANALYSIS_PLT_H

#include "analysis/image/elffile.h"
#include "analysis/image/symtab.h"

/*
 * Adds an entry "NAME@plt" to t for each stub in the sections .plt, .plt.sec, .plt.got
 * and .iplt that jumps through a slot with a relocation, and "[plt0]" for the one that
 * calls the dynamic linker. A slot that a resolver fills (IRELATIVE) has the resolver's
 * name, from t, which must be built. Other stubs stay without a name. Returns 0,
 * -ENOMEM, or another -errno if the file cannot be read.
 */
int plt_load(struct elffile *f, struct symtab *t);

#endif
