/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowleads.h - drops a lead-in if a jump may enter it in the middle
 *
 * A lead-in (abi/uop.h, CPI_UOP_LEAD) names instructions before the one at which a
 * window begins. The window interprets them first, to compute vector registers, which
 * an interrupt cannot read. This is right only if the program has just executed all of
 * them. So no jump may have a target after the lead-in's first instruction, up to and
 * including the place where the window begins. The translator checks the jumps of the
 * page. This file checks all code of the mapping: the four bytes after each opcode of a
 * direct jump, call or lea count as a distance to a target, even if no instruction
 * begins there.
 */
#ifndef CPI_DAEMON_WINDOWLEADS_H
#define CPI_DAEMON_WINDOWLEADS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/uop.h"

/* Larger mappings get no lead-ins: all of their code would be read. */
#define WINDOWLEADS_MAX_SIZE (8u << 20)

/* The jumps of the mappings that were looked at last: at most 4 MiB of memory. */
struct windowleads;

struct windowleads *windowleads_new(void);       /* NULL when out of memory */
void windowleads_free(struct windowleads *wl);   /* accepts NULL */
void windowleads_forget(struct windowleads *wl); /* owners may be freed afterwards */

/* Reads the mapping's code at an offset of it. Returns how many bytes it has read. */
typedef size_t windowleads_read_fn(void *ctx, uint64_t offset, void *to, size_t size);

/*
 * Drops the lead-ins of a page (at an offset of a mapping of size bytes) that are not
 * known to be right. Returns the number of micro-ops that remain. The code is read only
 * if the jumps of the mapping are not known yet; owner, an address, stands for it.
 */
uint32_t windowleads_check(struct windowleads *wl, const void *owner,
			   struct cpi_code_page *page, uint32_t nr_uops, uint64_t at,
			   uint64_t size, windowleads_read_fn *read, void *ctx);

#endif
