/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured.h - the captured parts of a file, which can be read without the file
 *
 * A recorder fills a capture from an image (recorder.h); the capture is encoded and
 * stored. Later the stored parts of one image are decoded into one capture, which gives
 * the same answers as the file. cpi-db(5) has the format.
 *
 * Encoded bytes are hostile. Offsets are the file's.
 */
#ifndef CPI_ANALYSIS_CAPTURED_H
#define CPI_ANALYSIS_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/cover.h"
#include "analysis/image/elffile.h"
#include "analysis/image/image.h"
#include "base/arena.h"
#include "base/buf.h"

/* The first name of a start is the procedure's. */
struct captured_name {
	uint64_t start, end;
	const char *raw;
};

struct captured_line {
	uint64_t start, end;
	struct line line;
};

/* The functions that were inlined there, as image_inlined_at() returns them. */
struct captured_inlined {
	uint64_t start, end;
	const struct inlined *at;
	size_t nr;
};

struct captured_piece {
	uint64_t start, end;
	const uint8_t *bytes;
};

struct captured {
	struct arena arena; /* texts and bytes */
	enum machine machine;
	struct buf segments; /* struct elfrange */
	struct buf names, lines, inlined, pieces;
	struct buf pads; /* uint64_t */
	struct cover line_at, inlined_at,
		piece_at; /* ids are indices; made by captured_index() */
};

/* The version of the format; every body begins with it. */
#define CAPTURED_VERSION 1

/* The greatest body, and the most memory for all parts of one image. */
#define CAPTURED_MAX_BODY   ((size_t)64 << 20)
#define CAPTURED_MAX_MEMORY ((size_t)512 << 20)

void captured_init(struct captured *c);
void captured_fini(struct captured *c);

/* Copies into the arena; NULL when out of memory. */
const char *captured_text(struct captured *c, const void *bytes, size_t len);

/*
 * Appends a body. Names, lines, pads and pieces must ascend by start; lines, inlined
 * functions and pieces must not overlap. 0 or -ENOMEM.
 */
int captured_encode(const struct captured *c, struct buf *body);

/*
 * Adds what a body holds. Returns 0, -CPI_ECORRUPT, -CPI_ETRUNCATED, -CPI_EVERSION,
 * -CPI_ELIMIT for more than CAPTURED_MAX_MEMORY, or -ENOMEM; after a failure c is only
 * good for captured_fini().
 */
int captured_decode(struct captured *c, const uint8_t *body, size_t size);

/* Call once all parts are decoded, before the functions below. Returns 0 or -ENOMEM. */
int captured_index(struct captured *c);

/* As the functions of image.h. */
struct line captured_line_at(const struct captured *c, uint64_t offset);
size_t captured_inlined_at(const struct captured *c, uint64_t offset,
			   const struct inlined **out);
int captured_read(const struct captured *c, uint64_t offset, void *out, size_t size);
bool captured_address(const struct captured *c, uint64_t offset, uint64_t *address);
bool captured_offset(const struct captured *c, uint64_t address, uint64_t *offset);

#endif
