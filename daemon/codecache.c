/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/codecache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "daemon/arch.h"
#include "daemon/kernel.h"

#define BLOCK_SIZE 512u
#define WAYS       4
#define SETS       (CODECACHE_BLOCKS / WAYS)

/* What a block holds; apart from its bytes, so that a look-up touches one line or two.
 */
struct tag {
	const struct known_image *image; /* NULL: empty */
	uint64_t number : 48;
	uint64_t size : 16; /* bytes that could be read; 0: none */
	uint32_t used;      /* the clock of its last use */
};

struct block {
	uint8_t data[BLOCK_SIZE + CPI_BRANCH_MAX_BYTES]; /* and a bit of the next */
};

/* Files stay open while blocks of them are wanted. */
struct file {
	const struct known_image *image; /* NULL: free */
	int fd;                          /* or the error of opening it */
	uint32_t used;
};

struct codecache {
	struct tag *tag; /* WAYS per set; both allocated on first use */
	struct block *block;
	struct file file[CODECACHE_FILES];
	uint32_t clock;
};

struct codecache *codecache_new(void)
{
	return calloc(1, sizeof(struct codecache));
}

static void file_close(struct file *f)
{
	if (f->image && f->fd >= 0)
		close(f->fd);
	f->image = NULL;
}

void codecache_clear(struct codecache *c)
{
	for (size_t i = 0; c->tag && i < CODECACHE_BLOCKS; i++)
		c->tag[i].image = NULL;
	for (size_t i = 0; i < CODECACHE_FILES; i++)
		file_close(&c->file[i]);
}

void codecache_free(struct codecache *c)
{
	if (!c)
		return;
	codecache_clear(c);
	free(c->tag);
	free(c->block);
	free(c);
}

/* A descriptor of the image's unchanged file, or -errno. */
static int find_file(struct codecache *c, const struct known_image *image)
{
	struct file *victim = &c->file[0];

	for (size_t i = 0; i < CODECACHE_FILES; i++) {
		struct file *f = &c->file[i];

		if (f->image == image) {
			f->used = c->clock;
			return f->fd >= 0 && !images_unchanged(image, f->fd) ? -ESTALE
									     : f->fd;
		}
		if (!f->image || (victim->image && f->used < victim->used))
			victim = f;
	}
	file_close(victim);
	*victim = (struct file){ image, images_open(image), c->clock };
	return victim->fd;
}

/* Bytes of the image at off: how many there are, at most size. */
static size_t read_code(struct codecache *c, const struct known_image *image,
			uint64_t off, void *to, size_t size)
{
	ssize_t got;
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
	fd = find_file(c, image);
	if (fd < 0)
		return 0;
	got = pread(fd, to, size, off);
	return got < 0 ? 0 : got;
}

/* Zeroed on demand: what is not used takes no memory. */
static bool have_memory(struct codecache *c)
{
	if (!c->tag)
		c->tag = calloc(CODECACHE_BLOCKS, sizeof(*c->tag));
	if (!c->block)
		c->block = calloc(CODECACHE_BLOCKS, sizeof(*c->block));
	return c->tag && c->block;
}

/* The block's index, read if it was not there. */
static size_t find_block(struct codecache *c, const struct known_image *image,
			 uint64_t number)
{
	size_t set = hash_u64((uintptr_t)image ^ number) % SETS * WAYS, victim = set;

	c->clock++;
	for (size_t i = set; i < set + WAYS; i++) {
		struct tag *t = &c->tag[i];

		if (t->image == image && t->number == number) {
			t->used = c->clock;
			return i;
		}
		if (!t->image ||
		    (c->tag[victim].image && t->used < c->tag[victim].used))
			victim = i;
	}
	c->tag[victim] = (struct tag){
		.image = image,
		.number = number,
		.size = read_code(c, image, number * BLOCK_SIZE, c->block[victim].data,
				  sizeof(c->block[victim].data)),
		.used = c->clock,
	};
	return victim;
}

size_t codecache_read(struct codecache *c, const struct known_image *image,
		      uint64_t off, void *to, size_t size)
{
	if (image->desc.kind != IMAGE_FILE && image->desc.kind != IMAGE_VDSO)
		return 0;
	c->clock++;
	return read_code(c, image, off, to, size);
}

struct cpi_branch codecache_branch(struct codecache *c, const struct known_image *image,
				   uint64_t offset)
{
	static const struct cpi_branch unknown = { .kind = CPI_BRANCH_UNKNOWN };
	uint32_t at = offset % BLOCK_SIZE, left;
	size_t i;

	if ((image->desc.kind != IMAGE_FILE && image->desc.kind != IMAGE_VDSO) ||
	    !have_memory(c))
		return unknown;
	i = find_block(c, image, offset / BLOCK_SIZE);
	if (at >= c->tag[i].size)
		return unknown;
	left = c->tag[i].size - at;
	return arch_native.decode(c->block[i].data + at,
				  left < CPI_BRANCH_MAX_BYTES ? left
							      : CPI_BRANCH_MAX_BYTES);
}
