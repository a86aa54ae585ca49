/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operands.h - values of marked operands, summed up from windows
 *
 * A window that is interpreted again (daemon/windows/windowreplay.h) tells the operands
 * of its divisions, shifts, multiplications, compares with a jump behind them, copies,
 * and calls of memcpy() and its kin, and whether a load returned what it returned the
 * last time. A set sums that up per operand of an instruction.
 *
 * Values may be secrets. So most are only counted by class, and a stored set has a
 * value only under these conditions:
 *
 * I1  at least OPERANDS_LEAST_WINDOWS windows saw it in this operand; a set that has it
 *     may be merged with one in which fewer windows saw it
 * I2  it is small: below 2^32 for divisors and sizes, else its magnitude below 2^16
 * I3  its kind is not LOADED: of loads only repetition is counted. An operand of
 *     another kind may have been loaded, by its own instruction or before
 * I4  of compares: the jump nearly always goes the same way
 *
 * The set in memory has other values, too; operands_free() erases them.
 *
 * I5  Σ classes = known executions; Σ executions with a value in the list <= known
 * I6  a value that may be stored (I2) and is in the list has at most n + `missed`
 *     executions; one that is not in the list has at most `missed`
 */
#ifndef CPI_DB_OPERANDS_H
#define CPI_DB_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define OPERANDS_MAX_SITES     1024 /* of a set that is stored */
#define OPERANDS_MAX_WINDOW    512  /* operands of a window */
#define OPERANDS_VALUES        32   /* of a site, in memory */
#define OPERANDS_KEPT          16   /* the same of a stored one: the most frequent */
#define OPERANDS_LEAST_WINDOWS 4

/* Kinds, and their names. Stored in the database: never renumber. */
#define OPERANDS_KINDS(X)                                                           \
	X(DIVISOR, "divisor")                                                       \
	X(DIVIDEND, "dividend_bits") /* how many bits its magnitude takes */        \
	X(SHIFT, "shift")                                                           \
	X(MULTIPLIER, "multiplier")                                                 \
	X(MULTIPLICAND, "multiplicand")                                             \
	X(COMPARED, "compared")           /* the first operand */                   \
	X(COMPARED_WITH, "compared_with") /* the second one */                      \
	X(SIZE, "size")                   /* of a copy, or an argument, in bytes */ \
	X(LOADED, "loaded")                                                         \
	/* of a copy's or call's first and second address, in bytes, up to 64 */    \
	X(ALIGNMENT, "alignment")                                                   \
	X(ALIGNMENT_2, "second_alignment")

enum operand_kind {
#define OPERANDS_ENUM(name, text) OPERAND_##name,
	OPERANDS_KINDS(OPERANDS_ENUM)
#undef OPERANDS_ENUM
		OPERAND_NR_KINDS
};

enum operand_class {
	OPERAND_ZERO,
	OPERAND_SMALL, /* magnitude below 256 */
	OPERAND_POWER, /* a larger power of two */
	OPERAND_OTHER,
	OPERAND_NR_CLASSES,
};

/* One execution. */
struct operand {
	uint64_t offset; /* of the instruction, in its image */
	uint32_t image;  /* a number that the set's owner assigns */
	uint8_t kind;    /* enum operand_kind */
	uint8_t size;    /* log2 of the operation's bytes, at most 3 */
	bool known;
	bool taken;   /* of compares: the jump behind it was taken */
	uint8_t more; /* it counts so many times more (daemon/windows/startweights.h) */
	int64_t value;
};

struct operands_value {
	int64_t value;
	uint64_t n;       /* executions; at least so many if others displaced it */
	uint64_t missed;  /* at most so many more of this set; not stored */
	uint64_t windows; /* that have one of these */
	uint64_t window;  /* the last one; not stored */
};

struct operands_site {
	uint64_t offset;
	uint32_t image;
	uint8_t kind, size;
	uint64_t known, unknown; /* executions */
	uint64_t windows;        /* that have a known one */
	uint64_t same;           /* known, with the value of the execution before */
	uint64_t taken;          /* executions whose jump was taken */
	uint64_t distinct;       /* different values, about: see operands.c */
	uint64_t missed;         /* I6, of the sets that were merged into this one */
	uint64_t floor;          /* the most that a value had when it was displaced */
	uint64_t class[OPERAND_NR_CLASSES];
	struct operands_value *value; /* in no order */
	uint32_t nr;
	uint64_t window; /* the last one that had it; not stored */
	int64_t last;    /* the last value, if known is not 0; not stored */
};

struct operands;

/* A set of at most limit sites; later ones are left out. NULL when out of memory. */
struct operands *operands_new(uint32_t limit);
void operands_free(struct operands *set); /* accepts NULL */

/*
 * Adds the operands of one window, in their order. 0, -EINVAL or -ENOMEM; on -ENOMEM
 * set may have a part of them.
 */
int operands_add(struct operands *set, const struct operand *o, size_t nr);

/* Whether all images of set are in a map of nr_map images; map = NULL has all. */
bool operands_fit(const struct operands *set, const uint32_t *map, uint32_t nr_map);

/* As accesses_merge(). */
int operands_merge(struct operands *set, const struct operands *from,
		   const uint32_t *map, uint32_t nr_map);

/* The sites, by image, offset and kind; until a change. */
const struct operands_site *const *operands_sites(const struct operands *set,
						  size_t *nr);

uint64_t operands_left_out(const struct operands *set); /* executions, of other sites */
size_t operands_memory(const struct operands *set);     /* bytes */

/* The class of a value. */
enum operand_class operands_class(int64_t value);

/* I2 and I3. */
bool operands_may_keep(enum operand_kind kind, int64_t value);

/*
 * Appends what may be stored (I1 to I4), or nothing if that is nothing. All numbers are
 * LEB128: executions left out; number of sites; their images as distances. Then of each
 * site: its offset, as distance within an image; kind + 16 size + 64 if missed follows,
 * which older versions have not; known, unknown, windows, same, taken, distinct,
 * missed; the classes but the last; the number of values, and
 * of each, from the least on: its distance from the one before (the first one as 2 v,
 * or -2 v - 1 below 0), n, windows.
 */
void operands_put(const struct operands *set, struct buf *out);

/*
 * Adds what operands_put() appended; *at is behind it then. 0, -CPI_ETRUNCATED,
 * -CPI_ECORRUPT or -ENOMEM.
 */
int operands_get(const uint8_t **at, const uint8_t *end, struct operands *into);

#endif
