/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_kept.h - schedules of short blocks as bytes, so that a later run need not
 * simulate
 *
 * What is found in the bytes is equal to what simulation would give. They are for the
 * same CPU model and the same build of the program only.
 */
#ifndef CPI_ANALYSIS_ISA_KEPT_H
#define CPI_ANALYSIS_ISA_KEPT_H

#include "analysis/isa/isa.h"
#include "base/buf.h"

#define ISA_KEPT_MAX (32 << 20) /* bytes; there are never more */

/* Appends all schedules that are known. 0 or -ENOMEM. */
int isa_kept_put(const struct isa *isa, struct buf *out);

/*
 * Takes the schedules from bytes, which may be damaged, in place of those that are
 * known. Returns 0, -CPI_ETRUNCATED, -CPI_ECORRUPT or isa_set_cpu()'s errors; then no
 * schedule is known.
 */
int isa_kept_get(struct isa *isa, const uint8_t *data, size_t size);

/* Whether schedules were added since isa_kept_get(). */
bool isa_kept_grew(const struct isa *isa);

/* Forgets all schedules, and begins with a seed that nobody can guess. */
void isa_kept_seed(struct isa *isa, uint64_t seed);

#endif
