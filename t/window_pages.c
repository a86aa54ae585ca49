/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_pages.c - another process' code, translated as windows ask for it
 */
#include "config.h"

#include "t/window_pages.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "daemon/windows/windowleads.h"

struct window_pages *window_pages_new(pid_t pid, unsigned int machine)
{
	struct window_pages *p = calloc(1, sizeof(*p));

	if (!p || translator_open(machine, &p->translator)) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	return p;
}

void window_pages_free(struct window_pages *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nr; i++)
		free(p->page[i].code);
	translator_close(p->translator);
	free(p);
}

int window_pages_read(const struct window_pages *p, void *to, size_t size,
		      uint64_t address)
{
	const struct iovec local = { to, size };
	const struct iovec remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(p->pid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0
										   : -1;
}

static struct window_page *find(struct window_pages *p, uint64_t address)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->page[i].address == address)
			return &p->page[i];
	return NULL;
}

static struct window_page *add(struct window_pages *p, uint64_t address)
{
	struct window_page *page = &p->page[p->nr];

	if (p->nr >= WINDOW_PAGES)
		return NULL;
	page->address = address;
	page->code = malloc(sizeof(*page->code));
	if (!page->code)
		return NULL;
	p->nr++;
	return page;
}

/* A windowleads_read_fn: of the mapping that begins at an address. */
struct mapping {
	const struct window_pages *pages;
	uint64_t start, end;
};

static size_t read_mapping(void *ctx, uint64_t offset, void *to, size_t size)
{
	const struct mapping *m = ctx;

	return window_pages_read(m->pages, to, size, m->start + offset) ? 0 : size;
}

/* As the daemon does: there may be jumps from other pages of the mapping. */
static uint32_t check_leads(const struct window_pages *p, struct window_page *page)
{
	struct windowleads *wl = windowleads_new(); /* what is mapped may change */
	struct mapping m = { .pages = p };
	unsigned long long start, end;
	char path[64], line[512];
	uint32_t left = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx", &start, &end) != 2 ||
		    page->address < start || page->address >= end)
			continue;
		m.start = start;
		m.end = end;
	}
	if (f)
		fclose(f);
	if (wl)
		left = windowleads_check(wl, p, page->code, page->nr_uops,
					 page->address - m.start, m.end - m.start,
					 read_mapping, &m);
	windowleads_free(wl);
	return left;
}

static int translate(struct window_pages *p, struct window_page *page, uint16_t offset)
{
	uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE];
	size_t size = sizeof(code);

	if (page->nr_wanted >= WINDOW_WANTED)
		page->nr_wanted = 0;
	page->wanted[page->nr_wanted++] = offset;
	if (window_pages_read(p, code, size, page->address)) {
		size = CPI_CODE_PAGE;
		if (window_pages_read(p, code, size, page->address))
			return -1;
	}
	page->nr_uops =
		(uint32_t)translator_page(p->translator, code, size, page->wanted,
					  page->nr_wanted, page->code);
	page->nr_uops = check_leads(p, page);
	return 0;
}

int window_pages_resolve(struct window_pages *p, uint64_t pc, uint32_t *ip,
			 uint32_t *base)
{
	const uint64_t address = pc & ~(uint64_t)(CPI_CODE_PAGE - 1);
	const uint16_t offset = pc & (CPI_CODE_PAGE - 1);
	struct window_page *page = find(p, address);
	bool fresh = !page;

	if (!page)
		page = add(p, address);
	if (!page)
		return -1;
	if ((fresh || !page->code->index[offset]) && translate(p, page, offset))
		return -1;
	if (!page->code->index[offset])
		return -1;
	*base = ((uint32_t)(page - p->page) << WINDOW_PAGES_PLACE_BITS) - 1;
	*ip = *base + page->code->index[offset];
	return 0;
}

const struct cpi_uop *window_pages_uop(const struct window_pages *p, uint32_t ip)
{
	const uint32_t number = ip >> WINDOW_PAGES_PLACE_BITS;
	const uint32_t place = ip % (1u << WINDOW_PAGES_PLACE_BITS);

	if (number >= p->nr || place >= CPI_UOPS_PER_PAGE)
		return NULL;
	return &p->page[number].code->uop[place];
}

const struct cpi_uop *window_pages_lead(struct window_pages *p, uint64_t pc)
{
	const struct window_page *page = find(p, pc & ~(uint64_t)(CPI_CODE_PAGE - 1));

	for (uint32_t i = page ? page->nr_uops : 0; i; i--) {
		const struct cpi_uop *u = &page->code->uop[i - 1];

		if (u->op != CPI_UOP_LEAD)
			return NULL;
		if (cpi_lead_offset(u) == pc % CPI_CODE_PAGE)
			return u;
	}
	return NULL;
}

int window_pages_find(void *pages, uint64_t address, struct walk_code *out)
{
	const uint64_t offset = address % CPI_CODE_PAGE;
	const struct window_page *page = find(pages, address - offset);

	return walk_find_in_page(page ? page->code : NULL, (uint32_t)offset, out);
}
