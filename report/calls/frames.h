/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - the procedures that call stacks name, each with a number
 *
 * A frame is a name, not a place: builds of an image under one path share the frame of
 * a procedure, as runs that are compared share its row (matrix.h). What has no name of
 * its own ("[0x4290]") is a frame of its image alone.
 */
#ifndef CPI_REPORT_FRAMES_H
#define CPI_REPORT_FRAMES_H

#include <stdbool.h>

#include "analysis/image/image.h"
#include "base/hmap.h"
#include "db/query/query.h"

/* What pictures tell apart by colour. */
#define FRAME_KINDS(X)        \
	X(PROGRAM, "program") \
	X(LIBRARY, "library") \
	X(KERNEL, "kernel")   \
	X(JIT, "JIT")         \
	X(UNKNOWN, "unknown") \
	X(COMMAND, "command")

enum frame_kind {
#define FRAME_KIND_ENUM(name, text) FRAME_##name,
	FRAME_KINDS(FRAME_KIND_ENUM)
#undef FRAME_KIND_ENUM
		NR_FRAME_KINDS
};

const char *frame_kind_str(enum frame_kind kind);

/* Of an image; unknown for NULL. */
enum frame_kind frame_kind_of(const struct image_desc *desc);

/* Strings are the table's; NULL where there is nothing to say. */
struct frame {
	struct hnode node;
	uint32_t id;
	enum frame_kind kind;
	bool inlined;        /* into the next outer frame */
	uint64_t image_hash; /* where the name does not tell it from other images' */
	char *name;          /* of the procedure */
	char *image, *build_id;
	struct line
		line; /* the first one that is known: where it begins, or was inlined */
};

/* What makes a frame; strings are copied into a new one. */
struct frame_key {
	const struct query_image *image; /* NULL: none */
	const char *name;
	bool inlined;
	bool is_command; /* no procedure at all */
	struct line line;
};

/* Starts as { 0 }. */
struct frames {
	struct frame **frame; /* by id */
	size_t nr;
	/* private */
	struct hmap map;
};

void frames_fini(struct frames *f);

/* The number of what key names, a new one when it is new. 0, -ENOMEM or -CPI_ELIMIT. */
int frames_put(struct frames *f, const struct frame_key *key, uint32_t *id);

/* The number of what key names; false when nothing put it there. */
bool frames_find(const struct frames *f, const struct frame_key *key, uint32_t *id);

/* Orders by what frames say: names, then images. */
int frames_compare(const struct frames *f, uint32_t a, uint32_t b);

#endif
