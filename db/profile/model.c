/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.c - names of image kinds and landing models, and a hash of images
 *
 * The hash covers only the fields that identify an image, so that two descriptions of
 * one image have the same hash in any database.
 */
#include "config.h"

#include "db/profile/model.h"

#include <string.h>

#include "base/hash.h"

const char *image_kind_str(enum image_kind kind)
{
	switch (kind) {
#define IMAGE_KIND_STR(name, value, text) \
	case IMAGE_##name:                \
		return text;
		IMAGE_KINDS(IMAGE_KIND_STR)
#undef IMAGE_KIND_STR
	}
	return "?";
}

bool image_kind_is_kernel(enum image_kind kind)
{
	switch (kind) {
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_IDLE:
	case IMAGE_BPF:
		return true;
	case IMAGE_FILE:
	case IMAGE_VDSO:
	case IMAGE_JIT:
	case IMAGE_TRACE:
		break;
	}
	return false;
}

uint64_t image_desc_hash(const struct image_desc *d)
{
	const uint64_t file[] = { d->device, d->inode, d->size, d->mtime_ns };
	uint64_t h = hash_bytes(d->kind, d->name, strlen(d->name));

	h = hash_bytes(h, d->build_id, d->build_id_size);
	if (d->has_content)
		return hash_bytes(h, d->content, sizeof(d->content));
	return d->build_id_size ? h : hash_bytes(h, file, sizeof(file));
}

const char *landing_str(enum landing landing)
{
	switch (landing) {
#define LANDING_STR(name, value, text) \
	case LANDING_##name:           \
		return text;
		LANDINGS(LANDING_STR)
#undef LANDING_STR
	}
	return "?";
}
