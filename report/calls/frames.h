/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - the frames of call stacks, each with a number
 *
 * A frame is identified by names, not by an address: all builds with the same path
 * share the frame of a procedure, like rows of a comparison (matrix.h). But a name
 * that was made from an offset ("[0x4290]") is a frame of one build only.
 */
#ifndef CPI_REPORT_FRAMES_H
#define CPI_REPORT_FRAMES_H

#include <stdbool.h>

#include "analysis/image/image.h"
#include "base/hmap.h"
#include "db/query/query.h"

/* The kinds that pictures show in different colours. */
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

/* Returns the kind of frames in an image; desc NULL: FRAME_UNKNOWN. */
enum frame_kind frame_kind_of(const struct image_desc *desc);

/* Strings belong to the table; NULL if not known. */
struct frame {
	struct hnode node;
	uint32_t id;
	enum frame_kind kind;
	bool inlined;        /* into the next outer frame */
	uint64_t image_hash; /* set if the name is only valid in one build */
	char *name;          /* of the procedure */
	char *image, *build_id;
	struct line line; /* where it begins or was inlined, by the key that made it */
};

/* The key of a frame. A new frame gets copies of the strings. */
struct frame_key {
	const struct query_image *image; /* NULL: none */
	const char *name;
	bool inlined;
	bool is_command; /* a command, not a procedure */
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

/* Finds or makes the frame of key. Returns 0, -ENOMEM or -CPI_ELIMIT. */
int frames_put(struct frames *f, const struct frame_key *key, uint32_t *id);

/* Finds the frame of key; false: it does not exist. */
bool frames_find(const struct frames *f, const struct frame_key *key, uint32_t *id);

/* Orders frames by their names, then by their images. */
int frames_compare(const struct frames *f, uint32_t a, uint32_t b);

#endif
