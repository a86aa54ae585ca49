/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_pages.h - another process' code, translated as windows ask for it
 */
#ifndef CPI_T_WINDOW_PAGES_H
#define CPI_T_WINDOW_PAGES_H

#include <sys/types.h>

#include "analysis/translate/translate.h"
#include "analysis/windows/walk.h"
#include "abi/window.h"

#define WINDOW_PAGES  4096
#define WINDOW_WANTED 256

/* Of an ip: the page, and the micro-op's place, for which 11 bits are enough. */
#define WINDOW_PAGES_PLACE_BITS 11

struct window_page {
	uint64_t address;
	struct cpi_code_page *code;
	uint32_t nr_uops;
	uint32_t nr_wanted;
	uint16_t wanted[WINDOW_WANTED];
};

struct window_pages {
	pid_t pid;
	struct translator *translator;
	uint32_t nr;
	struct window_page page[WINDOW_PAGES];
};

/*
 * NULL without translation or memory. The pages are those of process pid, which is one
 * of an ELF machine.
 */
struct window_pages *window_pages_new(pid_t pid, unsigned int machine);
void window_pages_free(struct window_pages *p); /* accepts NULL */
/* Reads the process' memory. Returns 0, or -1 if it is not there. */
int window_pages_read(const struct window_pages *p, void *to, size_t size,
		      uint64_t address);
/* As kmod/window.h has it. Translates what is not translated yet. Returns 0, or -1. */
int window_pages_resolve(struct window_pages *p, uint64_t pc, uint32_t *ip,
			 uint32_t *base);
const struct cpi_uop *window_pages_uop(const struct window_pages *p, uint32_t ip);
/* Likewise; NULL: there is none. */
const struct cpi_uop *window_pages_lead(struct window_pages *p, uint64_t pc);
/* A walk_find_fn, of struct window_pages. */
int window_pages_find(void *pages, uint64_t address, struct walk_code *out);

#endif
