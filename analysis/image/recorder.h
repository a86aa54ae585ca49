/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder.h - notes an image's answers, so that they can be given without it
 *
 * While a recorder is set (image_record()), it notes the image's answers. Run the
 * reports' own analysis meanwhile, and it asks for everything that reports will ask
 * for.
 */
#ifndef CPI_ANALYSIS_RECORDER_H
#define CPI_ANALYSIS_RECORDER_H

#include "analysis/image/captured.h"
#include "analysis/image/image.h"

/* Starts as { 0 }. recorder_finish() returns errors of the arrays. */
struct recorder {
	struct buf symbols; /* const struct symbol * */
	struct buf read;    /* struct recorded: bytes, and their lines */
	struct buf lines;   /* struct recorded: lines alone */
	struct buf pads;    /* uint64_t */
};

struct recorded {
	uint64_t start, end;
};

void recorder_fini(struct recorder *r);

void recorder_symbol(struct recorder *r, const struct symbol *s);
void recorder_read(struct recorder *r, uint64_t start, uint64_t end);
void recorder_lines(struct recorder *r, uint64_t start, uint64_t end);
void recorder_pads(struct recorder *r, const uint64_t *pad, size_t nr);

/*
 * Fills out, which is initialised, with what was noted, the image's segments, all names
 * of the symbols, and the lines of each byte that was read. Names of files and inlined
 * functions in out belong to im, so encode out before im is closed. im must not record
 * any more. Returns 0, -ENOMEM, or image_read()'s error.
 */
int recorder_finish(struct recorder *r, struct image *im, struct captured *out);

#endif
