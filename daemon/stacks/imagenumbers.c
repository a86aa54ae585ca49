/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagenumbers.c - images by small numbers, as stacks and windows refer to them
 */
#include "config.h"

#include "daemon/stacks/imagenumbers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"

struct numbered {
	struct hnode node;
	const struct known_image *image;
	uint32_t nr;
};

int imagenumbers_get(struct imagenumbers *in, struct known_image *image, uint32_t *nr)
{
	const uint64_t hash = hash_u64((uintptr_t)image);
	struct numbered *numbered;
	int err;

	for (struct hnode *n = hmap_first(&in->map, hash); n; n = hmap_next(n)) {
		numbered = container_of(n, struct numbered, node);
		if (numbered->image == image) {
			*nr = numbered->nr;
			return 0;
		}
	}
	if (GROW(in->image, in->nr))
		return -ENOMEM;
	numbered = calloc(1, sizeof(*numbered));
	if (!numbered)
		return -ENOMEM;
	numbered->image = image;
	numbered->nr = in->nr;
	err = hmap_insert(&in->map, &numbered->node, hash);
	if (err) {
		free(numbered);
		return err;
	}
	*nr = numbered->nr;
	in->image[in->nr++] = image;
	return 0;
}

void imagenumbers_mark(const struct imagenumbers *in)
{
	for (size_t i = 0; i < in->nr; i++) {
		if (in->image[i])
			in->image[i]->marked = true;
	}
}

const struct image_desc **imagenumbers_list(const struct imagenumbers *in)
{
	const struct image_desc **list = calloc(in->nr + 1, sizeof(*list));

	for (size_t i = 0; list && i < in->nr; i++)
		list[i] = in->image[i] ? &in->image[i]->desc : NULL;
	return list;
}

void imagenumbers_fini(struct imagenumbers *in)
{
	struct hnode *n, *next;

	hmap_for_each (&in->map, n, next)
		free(container_of(n, struct numbered, node));
	hmap_fini(&in->map);
	free(in->image);
}
