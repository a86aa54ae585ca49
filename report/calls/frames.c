/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.c - the table of frames
 *
 * Frames are equal if name, path and kind are equal, and both or neither are inlined.
 * For names that are only valid in one build ("[0x4290]") the hash of the image's
 * identity must be equal, too.
 */
#include "config.h"

#include "report/calls/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "report/profile/prof.h"
#include "report/select/facts.h"
#include "report/select/optional_text.h"

#define MAX_FRAMES (1u << 22)

static const char *const kind_name[] = {
#define FRAME_KIND_NAME(name, text) text,
	FRAME_KINDS(FRAME_KIND_NAME)
#undef FRAME_KIND_NAME
};

const char *frame_kind_str(enum frame_kind kind)
{
	return kind_name[kind];
}

/* Whether a path is that of a library: "libx.so", "libx.so.6", or the vDSO. */
static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/'), *so;

	for (so = slash ? slash : path; (so = strstr(so, ".so")); so += 3) {
		if (!so[3] || so[3] == '.')
			return true;
	}
	return false;
}

enum frame_kind frame_kind_of(const struct image_desc *desc)
{
	if (!desc || !desc->name)
		return FRAME_UNKNOWN;
	if (image_kind_is_kernel(desc->kind))
		return FRAME_KERNEL;
	if (desc->kind == IMAGE_JIT)
		return FRAME_JIT;
	if (desc->kind == IMAGE_VDSO || is_library(desc->name))
		return FRAME_LIBRARY;
	return FRAME_PROGRAM;
}

static struct frame *frame_of(struct hnode *n)
{
	return container_of(n, struct frame, node);
}

static void frame_free(struct frame *f)
{
	if (!f)
		return;
	free(f->name);
	free(f->image);
	free(f->build_id);
	free((char *)f->line.file);
	free(f);
}

void frames_fini(struct frames *f)
{
	for (size_t i = 0; i < f->nr; i++)
		frame_free(f->frame[i]);
	free(f->frame);
	hmap_fini(&f->map);
	memset(f, 0, sizeof(*f));
}

static const char *image_name(const struct frame_key *key)
{
	return key->image ? key->image->desc.name : NULL;
}

/* The image's hash if the name is only valid in one build ("[0x4290]"); else 0. */
static uint64_t owner_of(const struct frame_key *key)
{
	const bool by_offset = *key->name == '[' && strcmp(key->name, NO_SYMBOL_NAME);

	return key->image && by_offset ? image_desc_hash(&key->image->desc) : 0;
}

static struct frame *find_frame(const struct frames *f, const struct frame_key *key,
				enum frame_kind kind, uint64_t hash)
{
	for (struct hnode *n = hmap_first(&f->map, hash); n; n = hmap_next(n)) {
		const struct frame *had = frame_of(n);

		if (had->kind == kind && had->inlined == key->inlined &&
		    had->image_hash == owner_of(key) &&
		    optional_text_same(had->name, key->name) &&
		    optional_text_same(had->image, image_name(key)))
			return frame_of(n);
	}
	return NULL;
}

static struct frame *frame_new(const struct frame_key *key, enum frame_kind kind)
{
	struct frame *f = calloc(1, sizeof(*f));
	char build_id[REPORT_BUILD_ID_SIZE] = "", *file = NULL;
	int err;

	if (!f)
		return NULL;
	f->kind = kind;
	f->inlined = key->inlined;
	f->image_hash = owner_of(key);
	if (key->image)
		report_build_id(&key->image->desc, build_id);
	f->name = strdup(key->name);
	err = optional_text_copy(image_name(key), &f->image);
	if (!err)
		err = optional_text_copy(build_id, &f->build_id);
	if (!err)
		err = optional_text_copy(key->line.file, &file);
	f->line = (struct line){ file, key->line.line };
	if (f->name && !err)
		return f;
	frame_free(f);
	return NULL;
}

static int append(struct frames *f, struct frame *frame, uint64_t hash)
{
	if (GROW(f->frame, f->nr))
		return -ENOMEM;
	if (hmap_insert(&f->map, &frame->node, hash))
		return -ENOMEM;
	frame->id = (uint32_t)f->nr;
	f->frame[f->nr++] = frame;
	return 0;
}

static enum frame_kind key_kind(const struct frame_key *key)
{
	if (key->is_command)
		return FRAME_COMMAND;
	return frame_kind_of(key->image ? &key->image->desc : NULL);
}

static uint64_t key_hash(const struct frame_key *key)
{
	const uint64_t owner = (uint64_t)owner_of(key);

	return optional_text_hash(optional_text_hash(hash_u64(2 * owner + key->inlined),
						     key->name),
				  image_name(key));
}

bool frames_find(const struct frames *f, const struct frame_key *key, uint32_t *id)
{
	const struct frame *frame = find_frame(f, key, key_kind(key), key_hash(key));

	if (frame)
		*id = frame->id;
	return frame;
}

int frames_put(struct frames *f, const struct frame_key *key, uint32_t *id)
{
	const enum frame_kind kind = key_kind(key);
	const uint64_t hash = key_hash(key);
	struct frame *frame = find_frame(f, key, kind, hash);

	if (!frame) {
		if (f->nr == MAX_FRAMES)
			return -CPI_ELIMIT;
		frame = frame_new(key, kind);
		if (!frame)
			return -ENOMEM;
		if (append(f, frame, hash)) {
			frame_free(frame);
			return -ENOMEM;
		}
	}
	*id = frame->id;
	return 0;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

int frames_compare(const struct frames *f, uint32_t a, uint32_t b)
{
	const struct frame *x = f->frame[a], *y = f->frame[b];
	int c = compare_text(x->name, y->name);

	if (!c)
		c = compare_text(x->image, y->image);
	if (!c)
		c = x->inlined - y->inlined;
	if (!c)
		c = compare_text(x->build_id, y->build_id);
	return c ? c : (a > b) - (a < b);
}
