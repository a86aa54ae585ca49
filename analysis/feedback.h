/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feedback.h - how often each line of each function ran, as compilers are told it
 *
 * A tree: functions, their lines, and in them the functions that were inlined there,
 * with lines of their own. It is made of the frequencies of basic blocks (CGO'10,
 * section 2.2), as AutoFDO (CGO'16) and LLVM's sample profiles have it:
 *
 *  - An instruction has its block's count; the line that of its most frequent
 *    instruction, times the copies of it that an unrolled loop runs as one. A condition
 *    is often there twice, ahead of the loop and at its end, for compilers turn loops
 *    round: of conditional jumps the most frequent ones of each loop add up.
 *  - Lines count from where their function is declared, modulo 2^16, so that a
 *    function that moves in its file stays the same; what is on one line is told apart
 *    by its discriminator. An instruction that has no line somewhere on its stack of
 *    inlined calls tells nothing.
 *  - What did not run is there with 0: nothing at all would mean "not known". A
 * function that was inlined and did not run is a 0 of the line of its call.
 *  - Copies of a function in one build (clones, those of several files) are one, each
 *    line with the most frequent copy's count. Different functions of one name, which
 * no format tells apart, are not: the most frequent one stands for the name.
 *  - Builds, which ran at different times, add up.
 */
#ifndef CPI_ANALYSIS_FEEDBACK_H
#define CPI_ANALYSIS_FEEDBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/traffic.h"
#include "base/hmap.h"

/* A line of a function, less the one where that is declared. */
struct feedback_key {
	uint32_t line, discriminator;
};

/* A function that was called at a line, and not inlined there. */
struct feedback_target {
	struct feedback_target *next;
	const char *name;
	double n;
	uint64_t count;
};

struct feedback_line {
	struct hnode node;
	struct feedback_function *of;
	struct feedback_line *next;
	struct feedback_key at;
	double n;
	struct feedback_target *targets;
	uint64_t count;
};

struct feedback_function {
	struct hnode node;
	struct feedback_function *caller; /* that it was inlined into; NULL: none */
	struct feedback_function *next;   /* of its caller's, or of all */
	struct feedback_key at;           /* of the call, in the caller */
	const char *name, *file;          /* file may be NULL */
	int start;                        /* line where it is declared */
	double head;                      /* how often it was entered */
	struct feedback_line *lines;
	struct feedback_function *inlined;
	/* Once finished: */
	uint64_t head_count, total; /* total: of its lines and what is inlined */
	struct feedback_line **line;
	struct feedback_function **child;
	size_t nr_lines, nr_children;
};

/* What was not told, in executed instructions. */
struct feedback_tally {
	double all;
	double no_function; /* nothing says which function it is */
	double no_start;    /* nor where that begins */
	double no_line;     /* it has no line */
	uint64_t nr_mixed;  /* instructions on a line with others, of another count */
	uint64_t nr_discriminators; /* instructions that are told from others on the
				       line */
};

struct feedback;

/* plain: without discriminators and copies, as GCC 12 reads. NULL: out of memory. */
struct feedback *feedback_new(bool plain);
void feedback_free(struct feedback *f); /* accepts NULL */

/*
 * Adds a procedure of a build; t is its traffic and nothing else. Returns 0 or
 * -ENOMEM.
 */
int feedback_add(struct feedback *f, struct image *im, const struct cfg *cfg,
		 const struct freq *freq, const struct traffic *t);

/*
 * Drops functions that are not the most frequent of their name. fn, unless NULL, is
 * told of each of them, and which stays.
 */
typedef void (*feedback_namesake_fn)(void *ctx, const struct feedback_function *dropped,
				     const struct feedback_function *kept);
void feedback_drop_namesakes(struct feedback *f, feedback_namesake_fn fn, void *ctx);

/* Adds another build. Both are without namesakes. 0 or -ENOMEM. */
int feedback_merge(struct feedback *f, const struct feedback *from);

const struct feedback_tally *feedback_tally(const struct feedback *f);

/* The most frequent line's count. */
double feedback_max(struct feedback *f);

/* A power of ten that makes a most frequent count of max an integer of nine digits. */
double feedback_scale(double max);

/*
 * Makes counts of all numbers, times scale, and puts everything in order: functions by
 * their totals, lines and calls as they are in the source. The array is f's. 0 or
 * -ENOMEM.
 */
int feedback_finish(struct feedback *f, double scale,
		    struct feedback_function *const **out, size_t *nr);

/* n as a count. */
uint64_t feedback_count(double n, double scale);

/*
 * For feedback_*.c: the functions of the tree, in no order; whose memory they have; the
 * copy of a name that is in it, or NULL; a place's line in its function.
 */
struct feedback_function **feedback_list(struct feedback *f);
struct arena *feedback_arena(struct feedback *f);
const char *feedback_find_name(const struct feedback *f, const char *text);
uint32_t feedback_line_of(const struct origin *p);

#endif
