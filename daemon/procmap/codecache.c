/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codecache.c - a cache of code: four-way set-associative, with LRU replacement
 *
 * Tags and bytes are in separate arrays, so a look-up touches one or two cache lines. A
 * noted block gets its tag at once. So it is noted only once, and no other block takes
 * its place before it is read.
 */
#include "config.h"

#include "daemon/procmap/codecache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash.h"
#include "daemon/os/arch.h"
#include "daemon/procmap/kernel.h"

#define BLOCK_SIZE 512u
#define WAYS       4
#define SETS       (CODECACHE_BLOCKS / WAYS)

/* Describes a block; its bytes are in the array of blocks. */
struct tag {
	const struct known_image *image; /* NULL: empty */
	uint64_t number : 48;
	uint64_t size : 16; /* bytes that could be read; 0: none */
	uint32_t used;      /* the clock of its last use */
	bool is_wanted;     /* it was noted but not read yet */
};

/* A block that codecache_read_noted() is to read. */
struct codecache_want {
	size_t at; /* index of its tag */
	struct known_image *image;
	uint64_t mapped_ns;
};

struct block {
	/* and the first bytes of the next block */
	uint8_t data[BLOCK_SIZE + CPI_BRANCH_MAX_BYTES];
};

struct codecache {
	struct tag *tag; /* WAYS per set; both allocated on first use */
	struct block *block;
	struct codecache_want *wanted; /* blocks whose tags have is_wanted */
	size_t nr_wanted;
	struct images *images;
	uint32_t clock;
};

struct codecache *codecache_new(struct images *im)
{
	struct codecache *c = calloc(1, sizeof(*c));

	if (c)
		c->images = im;
	return c;
}

void codecache_clear(struct codecache *c)
{
	for (size_t i = 0; c->tag && i < CODECACHE_BLOCKS; i++)
		c->tag[i] = (struct tag){ .image = NULL };
	c->nr_wanted = 0;
}

void codecache_free(struct codecache *c)
{
	if (!c)
		return;
	codecache_clear(c);
	free(c->tag);
	free(c->block);
	free(c->wanted);
	free(c);
}

/*
 * Reads at most size bytes of the image at off. Returns how many were read; 0 on
 * failure.
 */
static size_t read_code(struct codecache *c, const struct known_image *image,
			uint64_t off, void *to, size_t size)
{
	ssize_t got;

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
	got = images_read(c->images, image, off, to, size);
	return got < 0 ? 0 : (size_t)got;
}

/*
 * Allocates the arrays. calloc() gives zeroed pages on demand, so unused blocks take no
 * memory.
 */
static bool have_memory(struct codecache *c)
{
	if (!c->tag)
		c->tag = calloc(CODECACHE_BLOCKS, sizeof(*c->tag));
	if (!c->block)
		c->block = calloc(CODECACHE_BLOCKS, sizeof(*c->block));
	return c->tag && c->block;
}

static bool has_code(const struct known_image *image)
{
	return image->desc.kind == IMAGE_FILE || image->desc.kind == IMAGE_VDSO;
}

static size_t set_of(const struct known_image *image, uint64_t number)
{
	return hash_u64((uintptr_t)image ^ number) % SETS * WAYS;
}

/* Returns the block's tag, or NULL. */
static struct tag *find_tag(struct codecache *c, const struct known_image *image,
			    uint64_t number)
{
	struct tag *set = &c->tag[set_of(image, number)];

	for (struct tag *t = set; t < set + WAYS; t++) {
		if (t->image == image && t->number == number)
			return t;
	}
	return NULL;
}

/*
 * Chooses a tag of the block's set for a new block: an empty one, or the least recently
 * used. Returns NULL if all are wanted.
 */
static struct tag *choose_tag(struct codecache *c, const struct known_image *image,
			      uint64_t number)
{
	struct tag *set = &c->tag[set_of(image, number)], *victim = NULL;

	for (struct tag *t = set; t < set + WAYS; t++) {
		if (!t->image)
			return t;
		if (!t->is_wanted && (!victim || t->used < victim->used))
			victim = t;
	}
	return victim;
}

void codecache_note(struct codecache *c, struct known_image *image, uint64_t mapped_ns,
		    uint64_t offset)
{
	const uint64_t number = offset / BLOCK_SIZE;
	struct tag *t;

	if (!has_code(image) || !have_memory(c) || find_tag(c, image, number))
		return;
	t = choose_tag(c, image, number);
	if (!t || GROW(c->wanted, c->nr_wanted))
		return;
	*t = (struct tag){
		.image = image, .number = number, .used = ++c->clock, .is_wanted = true
	};
	c->wanted[c->nr_wanted++] =
		(struct codecache_want){ (size_t)(t - c->tag), image, mapped_ns };
}

/*
 * Reads a block. If the mapping turned out to be of the image's successor, the block
 * becomes one of the successor, in another set.
 */
static void read_block(struct codecache *c, const struct codecache_want *w)
{
	struct tag *t = &c->tag[w->at];
	const struct known_image *image = images_known(w->image, w->mapped_ns);
	const uint64_t number = t->number;

	if (image != t->image) {
		*t = (struct tag){ .image = NULL };
		t = find_tag(c, image, number) ? NULL : choose_tag(c, image, number);
	}
	if (!t)
		return;
	*t = (struct tag){
		.image = image,
		.number = number,
		.size = read_code(c, image, number * BLOCK_SIZE,
				  c->block[t - c->tag].data,
				  sizeof(c->block[t - c->tag].data)),
		.used = ++c->clock,
	};
}

void codecache_read_noted(struct codecache *c)
{
	for (size_t i = 0; i < c->nr_wanted; i++)
		read_block(c, &c->wanted[i]);
	c->nr_wanted = 0;
}

size_t codecache_read(struct codecache *c, const struct known_image *image,
		      uint64_t off, void *to, size_t size)
{
	if (!has_code(image))
		return 0;
	return read_code(c, image, off, to, size);
}

struct cpi_branch codecache_branch(struct codecache *c, const struct known_image *image,
				   uint64_t offset)
{
	static const struct cpi_branch unknown = { .kind = CPI_BRANCH_UNKNOWN };
	uint32_t at = offset % BLOCK_SIZE, left;
	struct tag *t = c->tag ? find_tag(c, image, offset / BLOCK_SIZE) : NULL;

	if (!t || at >= t->size)
		return unknown;
	t->used = ++c->clock;
	left = t->size - at;
	return arch_native.decode(c->block[t - c->tag].data + at,
				  left < CPI_BRANCH_MAX_BYTES ? left
							      : CPI_BRANCH_MAX_BYTES);
}
