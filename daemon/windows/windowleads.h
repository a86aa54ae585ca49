/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowleads.h - drops lead-ins whose instructions other code may enter amid
 *
 * A lead-in (abi/uop.h, CPI_UOP_LEAD) is right only if no jump leads behind its first
 * instruction. The translator sees the jumps of one page. This file looks for jumps and
 * calls in all other code of the mapping: any four bytes behind the opcode of such a
 * jump count as its target, even if no instruction begins there.
 */
#ifndef CPI_DAEMON_WINDOWLEADS_H
#define CPI_DAEMON_WINDOWLEADS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/uop.h"

/* Larger mappings get no lead-ins: each page that has some costs a look at all code. */
#define WINDOWLEADS_MAX_SIZE (8u << 20)

/* Reads the mapping's code at an offset of it. Returns how many bytes it has read. */
typedef size_t windowleads_read_fn(void *ctx, uint64_t offset, void *to, size_t size);

/*
 * Drops the lead-ins of a page (at an offset of a mapping of size bytes) that are not
 * known to be right. Returns the number of micro-ops that remain.
 */
uint32_t windowleads_check(struct cpi_code_page *page, uint32_t nr_uops, uint64_t at,
			   uint64_t size, windowleads_read_fn *read, void *ctx);

#endif
