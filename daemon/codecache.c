/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/codecache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "daemon/arch.h"
#include "daemon/kernel.h"

#define PAGE_SIZE_BYTES 4096u
#define WAYS            4
#define SETS            (CODECACHE_PAGES / WAYS)

struct page {
	const struct known_image *image; /* NULL: empty */
	uint64_t number;
	uint32_t size; /* bytes that could be read; 0: none */
	uint32_t used; /* the clock of its last use */
	uint8_t data[PAGE_SIZE_BYTES +
		     CPI_BRANCH_MAX_BYTES]; /* and a bit of the next */
};

struct codecache {
	struct page *page; /* WAYS pages per set; allocated on first use */
	uint32_t clock;
};

struct codecache *codecache_new(void)
{
	return calloc(1, sizeof(struct codecache));
}

void codecache_free(struct codecache *c)
{
	if (!c)
		return;
	free(c->page);
	free(c);
}

void codecache_clear(struct codecache *c)
{
	for (size_t i = 0; c->page && i < CODECACHE_PAGES; i++)
		c->page[i].image = NULL;
}

/* Bytes of the image at off: how many there are, at most size. */
static size_t read_code(const struct known_image *image, uint64_t off, void *to,
			size_t size)
{
	ssize_t got = -1;
	int fd;

	if (image->desc.kind == IMAGE_VDSO) {
		const void *vdso;
		size_t vdso_size;

		if (kernel_vdso(&vdso, &vdso_size) || off >= vdso_size)
			return 0;
		if (size > vdso_size - off)
			size = vdso_size - off;
		memcpy(to, (const char *)vdso + off, size);
		return size;
	}
	fd = images_open(image);
	if (fd < 0)
		return 0;
	got = pread(fd, to, size, off);
	close(fd);
	return got < 0 ? 0 : got;
}

static struct page *find_page(struct codecache *c, const struct known_image *image,
			      uint64_t number)
{
	struct page *set, *victim;

	if (!c->page) { /* zeroed on demand: unused pages take no memory */
		c->page = calloc(CODECACHE_PAGES, sizeof(*c->page));
		if (!c->page)
			return NULL;
	}
	set = victim = &c->page[hash_u64((uintptr_t)image ^ number) % SETS * WAYS];
	c->clock++;
	for (int i = 0; i < WAYS; i++) {
		if (set[i].image == image && set[i].number == number) {
			set[i].used = c->clock;
			return &set[i];
		}
		if (!set[i].image || (victim->image && set[i].used < victim->used))
			victim = &set[i];
	}
	victim->image = image;
	victim->number = number;
	victim->used = c->clock;
	victim->size = read_code(image, number * PAGE_SIZE_BYTES, victim->data,
				 sizeof(victim->data));
	return victim;
}

struct cpi_branch codecache_branch(struct codecache *c, const struct known_image *image,
				   uint64_t offset)
{
	static const struct cpi_branch unknown = { .kind = CPI_BRANCH_UNKNOWN };
	uint32_t at = offset % PAGE_SIZE_BYTES;
	const struct page *p;

	if (image->desc.kind != IMAGE_FILE && image->desc.kind != IMAGE_VDSO)
		return unknown;
	p = find_page(c, image, offset / PAGE_SIZE_BYTES);
	if (!p || at >= p->size)
		return unknown;
	return arch_native.decode(p->data + at, p->size - at < CPI_BRANCH_MAX_BYTES
							? p->size - at
							: CPI_BRANCH_MAX_BYTES);
}
