/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feedback.h - how often each line of each function ran, in the form that compilers
 * read
 *
 * A tree of functions, their lines, and the functions that were inlined at these lines,
 * with lines of their own. It is made from the frequencies of basic blocks (CGO'10,
 * section 2.2), in the form of AutoFDO (CGO'16) and LLVM's sample profiles:
 *
 *  - An instruction has its block's count. A line has the count of its most frequent
 *    instruction, times the number of its copies that an unrolled loop runs as one.
 *    Compilers turn loops round, so a condition is often there twice, ahead of the loop
 *    and at its end: of conditional jumps, the most frequent ones of each loop add up.
 *  - Lines count from where their function is declared, modulo 2^16, so that a function
 *    that moves in its file stays the same. Discriminators tell code on one line apart.
 *    An instruction that lacks a line anywhere on its stack of inlined calls counts
 *    nowhere.
 *  - Code that did not run has the count 0, because an absent line would mean "not
 *    known". A function that was inlined and did not run is a 0 at the line of its
 * call.
 *  - Copies of a function in one build (clones, those of several files) are one, and
 *    each line has the most frequent copy's count. Formats cannot tell different
 *    functions of one name apart, so the most frequent one stands for the name.
 *  - Counts of several builds, which ran at different times, add up.
 */
#ifndef CPI_ANALYSIS_FEEDBACK_H
#define CPI_ANALYSIS_FEEDBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/freq/traffic.h"
#include "base/hmap.h"

/* A line, relative to the line where its function is declared. */
struct feedback_key {
	uint32_t line, discriminator;
};

/* A function that a line calls, if the call is not inlined. */
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

/* What the tree leaves out, in executed instructions. */
struct feedback_tally {
	double all;
	double no_function; /* the function is not known */
	double no_start;    /* the line where the function is declared is not known */
	double no_line;     /* it has no line */
	uint64_t nr_mixed;  /* instructions on a line with others of another count */
	uint64_t nr_discriminators; /* instructions that a discriminator tells apart
				       from others on their line */
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
 * Of different functions with one name, drops all but the most frequent. Unless fn is
 * NULL, it gets each dropped function and the one that stays.
 */
typedef void (*feedback_namesake_fn)(void *ctx, const struct feedback_function *dropped,
				     const struct feedback_function *kept);
void feedback_drop_namesakes(struct feedback *f, feedback_namesake_fn fn, void *ctx);

/* Adds another build. Neither may have namesakes. Returns 0 or -ENOMEM. */
int feedback_merge(struct feedback *f, const struct feedback *from);

const struct feedback_tally *feedback_tally(const struct feedback *f);

/* The count of the most frequent line. */
double feedback_max(struct feedback *f);

/* The power of ten that gives max nine digits before the point. */
double feedback_scale(double max);

/*
 * Turns all numbers, times scale, into integer counts, and sorts everything: functions
 * by their totals, lines and calls as in the source. The array belongs to f. Returns 0
 * or -ENOMEM.
 */
int feedback_finish(struct feedback *f, double scale,
		    struct feedback_function *const **out, size_t *nr);

/* n as a count. */
uint64_t feedback_count(double n, double scale);

/*
 * For feedback_*.c: the functions of the tree, in no order; the arena that they live
 * in; the tree's copy of a name, or NULL; the line of a place in its function.
 */
struct feedback_function **feedback_list(struct feedback *f);
struct arena *feedback_arena(struct feedback *f);
const char *feedback_find_name(const struct feedback *f, const char *text);
uint32_t feedback_line_of(const struct origin *p);

#endif
