/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder.h - notes what is asked of an image, to answer the same without it
 *
 * While a recorder is set (image_record()), the image's answers are noted. Whoever runs
 * the same analysis as the reports do asks for what they will ask for.
 */
#ifndef CPI_ANALYSIS_RECORDER_H
#define CPI_ANALYSIS_RECORDER_H

#include "analysis/captured.h"
#include "analysis/image.h"

/* Starts as { 0 }. Errors stick to the arrays and come out at the end. */
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
 * What was noted, with the image's segments, all names of the symbols, and the lines of
 * each byte that was read. im must not record any more. out is initialised. 0, -ENOMEM.
 */
int recorder_finish(struct recorder *r, struct image *im, struct captured *out);

#endif
