/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.c - allocates from chunks, and frees all of them at once
 *
 * Chunks double from 64 KB to 4 MB. An allocation of more than a quarter of a chunk
 * gets a chunk of its own. That chunk goes behind the newest one, so the rest of the
 * newest one stays in use.
 */
#include "config.h"

#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT ((size_t)4 << 30)
#define MIN_CHUNK     ((size_t)64 << 10)
#define MAX_CHUNK     ((size_t)4 << 20)
#define ALIGN         alignof(max_align_t)

struct arena_chunk {
	struct arena_chunk *next;
	alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *a, size_t limit)
{
	*a = (struct arena){ .limit = limit ? limit : DEFAULT_LIMIT };
}

void arena_fini(struct arena *a)
{
	struct arena_chunk *c, *next;

	for (c = a->chunk; c; c = next) {
		next = c->next;
		free(c);
	}
	arena_init(a, a->limit);
}

static struct arena_chunk *take_chunk(struct arena *a, size_t size)
{
	struct arena_chunk *c;

	if (size > a->limit - a->used)
		return NULL;
	c = malloc(sizeof(*c) + size);
	if (c)
		a->used += size;
	return c;
}

static void *alloc_alone(struct arena *a, size_t size)
{
	struct arena_chunk *c = take_chunk(a, size);

	if (!c)
		return NULL;
	if (a->chunk) {
		c->next = a->chunk->next;
		a->chunk->next = c;
	} else {
		c->next = NULL;
		a->chunk = c;
	}
	return memset(c->bytes, 0, size);
}

static int add_chunk(struct arena *a, size_t size)
{
	size_t want = a->used < MIN_CHUNK ? MIN_CHUNK : a->used;
	struct arena_chunk *c;

	if (want > MAX_CHUNK)
		want = MAX_CHUNK;
	if (want > a->limit - a->used)
		want = size;
	c = take_chunk(a, want);
	if (!c)
		return -1;
	c->next = a->chunk;
	a->chunk = c;
	a->at = c->bytes;
	a->end = c->bytes + want;
	return 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	if (size > SIZE_MAX - ALIGN)
		return NULL;
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	if (!size)
		size = ALIGN;
	if (size > (size_t)(a->end - a->at)) {
		if (size > MIN_CHUNK / 4)
			return alloc_alone(a, size);
		if (add_chunk(a, size))
			return NULL;
	}
	p = a->at;
	a->at += size;
	return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t nr, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(nr, size, &bytes) ? NULL : arena_alloc(a, bytes);
}
