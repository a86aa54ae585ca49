/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_cache.c - the unwind tables of images, loaded on demand
 *
 * The cache cannot know which tables are not needed any more. So if it grows too large
 * it drops all, and the needed ones are loaded again.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "analysis/unwind/unwindtables.h"
#include "base/fdpass.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "helpers/unwind.h"

#define MAX_IMAGES 512          /* each keeps its file open */
#define MAX_BYTES  (192u << 20) /* of tables */

struct cached_tables {
	struct hnode node;
	uint32_t image;
	struct unwindtables *tables; /* NULL: there are none */
};

struct unwindcache {
	int fd;
	struct hmap entries;
	size_t bytes;
};

struct unwindcache *unwindcache_new(int fd)
{
	struct unwindcache *c = calloc(1, sizeof(*c));

	if (c)
		c->fd = fd;
	return c;
}

static void forget_all(struct unwindcache *c)
{
	struct hnode *n, *next;

	hmap_for_each (&c->entries, n, next) {
		struct cached_tables *e = container_of(n, struct cached_tables, node);

		hmap_remove(&c->entries, n);
		unwindtables_close(e->tables);
		free(e);
	}
	c->bytes = 0;
}

void unwindcache_free(struct unwindcache *c)
{
	if (!c)
		return;
	forget_all(c);
	hmap_fini(&c->entries);
	free(c);
}

/* Requests the image's file. Returns a descriptor, or a negative error. */
static int ask(const struct unwindcache *c, uint32_t image)
{
	struct cpi_unwind_image answer;
	int fd;

	if (fdpass_send(c->fd, &image, sizeof(image), NULL, 0) ||
	    fdpass_take(c->fd, &answer, sizeof(answer), &fd, 1) != 1)
		return -1;
	if (answer.image == image)
		return answer.wrapped ? fdpass_unwrap(fd) : fd;
	close(fd);
	return -1;
}

/* NULL where there are none. */
static struct unwindtables *load_tables(int fd)
{
	struct unwindtables *tables;
	struct elffile *file;

	if (fd < 0)
		return NULL;
	if (elffile_open_fd(fd, &file)) {
		close(fd);
		return NULL;
	}
	if (!unwindtables_open(file, &tables))
		return tables;
	elffile_close(file);
	return NULL;
}

const struct unwindtables *unwindcache_get(void *ctx, uint32_t image)
{
	struct unwindcache *c = ctx;
	const uint64_t hash = hash_u64(image);
	struct cached_tables *e;

	for (struct hnode *n = hmap_first(&c->entries, hash); n; n = hmap_next(n)) {
		e = container_of(n, struct cached_tables, node);
		if (e->image == image)
			return e->tables;
	}
	e = calloc(1, sizeof(*e));
	if (!e || hmap_insert(&c->entries, &e->node, hash)) {
		free(e);
		return NULL;
	}
	e->image = image;
	e->tables = load_tables(ask(c, image));
	if (e->tables)
		c->bytes += unwindtables_memory(e->tables);
	return e->tables;
}

bool unwindcache_shrink(struct unwindcache *c)
{
	if (c->entries.nr < MAX_IMAGES && c->bytes < MAX_BYTES)
		return false;
	forget_all(c);
	return true;
}
