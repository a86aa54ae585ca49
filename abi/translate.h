/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * translate.h - what a collector and cpi-translate say to each other
 *
 * A message each way, over a socket that keeps them apart: a page of code, and what
 * became of it. Both sides have been built together; still nothing in a reply is
 * believed before it was checked (daemon/windows/translate_check.c).
 */
#ifndef CPI_ABI_TRANSLATE_H
#define CPI_ABI_TRANSLATE_H

#include "abi/uop.h"

#define CPI_TRANSLATE_MAGIC   0x32786475 /* "udx2" */
#define CPI_TRANSLATE_ENTRIES 8

struct cpi_translate_request {
	uint32_t magic;
	uint32_t cookie; /* which the reply has, too */
	uint32_t size;   /* bytes of code: up to a page, and what is behind it */
	uint32_t nr_entries;
	uint32_t reach; /* instructions from an entry on; UINT32_MAX: all of the page */
	uint32_t unused;
	uint64_t starts[CPI_CODE_LINES]; /* bits: translate at these offsets, too */
	uint16_t entry[CPI_TRANSLATE_ENTRIES]; /* where instructions are known to begin
						*/
	uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE + 1];
};

/* nr_uops of page.uop are sent. */
struct cpi_translate_reply {
	uint32_t magic;
	uint32_t cookie;
	int32_t err; /* 0, or why there is nothing else */
	uint32_t nr_uops;
	struct cpi_code_page page;
};

#endif
