/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_kept.h - schedules of short blocks as bytes, for later runs
 *
 * A schedule in the bytes equals the one that a simulation would compute. The bytes are
 * valid only for the same CPU model and the same build of this program.
 */
#ifndef CPI_ANALYSIS_ISA_KEPT_H
#define CPI_ANALYSIS_ISA_KEPT_H

#include "analysis/isa/isa.h"
#include "base/buf.h"

#define ISA_KEPT_MAX (128 << 20) /* the largest number of bytes */

/*
 * Appends all schedules that isa has, also those of its source; if there are too many,
 * only those that were used. Returns 0 or -ENOMEM.
 */
int isa_kept_put(struct isa *isa, struct buf *out);

/* Where the bytes are that isa_kept_put() has written; they may be damaged. */
struct isa_kept_source {
	/* Copies size bytes from a position. 0 or an error. */
	int (*read)(void *ctx, uint64_t at, void *out, size_t size);
	void (*close)(void *ctx);
	void *ctx;
	uint64_t size;
};

/*
 * Replaces the schedules of isa by those of a source, of which only those are read that
 * are needed; what is damaged is left out. The source belongs to isa, and is closed
 * with it or after an error: -CPI_ETRUNCATED, -CPI_ECORRUPT, -ENOMEM or an error of
 * isa_set_cpu() or read(). Then isa has no schedules.
 */
int isa_kept_open(struct isa *isa, const struct isa_kept_source *source);

/* Closes the source; accepts an isa without one. */
void isa_kept_close(struct isa *isa);

/*
 * For a copy of isa in another process: appends the schedules that were added since
 * isa_kept_mark(), without a seed. isa_kept_add() adds them to isa itself; they may be
 * damaged. Return 0, -ENOMEM, -CPI_ECORRUPT or an error of isa_set_cpu().
 */
void isa_kept_mark(struct isa *isa);
int isa_kept_put_new(const struct isa *isa, struct buf *out);
int isa_kept_add(struct isa *isa, const uint8_t *data, size_t size);

/* Whether schedules were added since isa_kept_open(). */
bool isa_kept_grew(const struct isa *isa);

/* Drops all schedules, and sets the seed of the hashes, which must be random. */
void isa_kept_seed(struct isa *isa, uint64_t seed);

#endif
