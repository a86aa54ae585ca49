/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.h - commands, cgroups and labels that profiles are kept by
 *
 * A name in table context is the values that samples have in common, a line for each,
 * in the order of the kinds: "comm=node\ncgroup=/a\n". The name '' stands for all
 * samples. A sample is in one context, which has a value of each kind that is kept, if
 * the sample has one. Older databases have names of one kind without a newline,
 * "comm=node"; there a sample was in one context of each kind, and nothing was known of
 * two kinds together.
 */
#ifndef CPI_DB_CONTEXT_H
#define CPI_DB_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The names are stored, and are the words of --by: never rename one. */
#define CONTEXT_KINDS(X)                     \
	X(COMM, "comm")                      \
	X(CGROUP, "cgroup") /* its path */   \
	X(LABEL, "label")                    \
	X(PROCESS, "process") /* COMM:PID */ \
	X(THREAD, "thread")   /* NAME:TID */

enum context_kind {
#define CONTEXT_KIND_ENUM(name, text) CONTEXT_##name,
	CONTEXT_KINDS(CONTEXT_KIND_ENUM)
#undef CONTEXT_KIND_ENUM
		NR_CONTEXT_KINDS
};

#define CONTEXT_VALUE_MAX 1023 /* bytes of a value; longer ones are CONTEXT_OTHER */
#define CONTEXT_NAME_SIZE (NR_CONTEXT_KINDS * (CONTEXT_VALUE_MAX + 16))
#define CONTEXT_OTHER     "[other]" /* beyond what is kept at a time */
#define CONTEXT_NONE      "none"    /* the word of --by for no kind */

/* What cpid keeps unless told. */
#define CONTEXT_DEFAULT (1u << CONTEXT_COMM | 1u << CONTEXT_CGROUP)

/* Those that a process chooses by itself, as often as it likes. */
#define CONTEXT_CHOSEN \
	(1u << CONTEXT_COMM | 1u << CONTEXT_PROCESS | 1u << CONTEXT_THREAD)

const char *context_kind_str(enum context_kind kind);

/*
 * Reads "comm,label" as 1 << kind for each kind, and "none" as 0. 0, or -EINVAL; then
 * *kinds stays.
 */
int context_parse_kinds(const char *text, unsigned int *kinds);

/*
 * The name of a context with these values by kind, NULL for none; "" with no value at
 * all. A newline in a value becomes a space. Returns the name's length.
 */
size_t context_make(const char *const values[NR_CONTEXT_KINDS],
		    char out[CONTEXT_NAME_SIZE]);

/*
 * Where too many contexts are kept, the rest is counted in fewer ones: the first try is
 * context_make()'s; the next has CONTEXT_OTHER for what processes choose by themselves
 * (CONTEXT_CHOSEN), the last for every value. A new context may be made where less than
 * context_bound() are kept, for the first try nr.
 */
#define CONTEXT_TRIES 3
size_t context_make_try(const char *const values[NR_CONTEXT_KINDS], int try,
			char out[CONTEXT_NAME_SIZE]);
size_t context_bound(int try, size_t nr);

/* The value of a kind in a context's name, in out; NULL if it has none. */
const char *context_value(const char *name, enum context_kind kind,
			  char out[CONTEXT_VALUE_MAX + 1]);

/* 1 << kind for each kind of which the name has a value. */
unsigned int context_kinds(const char *name);

/* Whether no other such context has any of its samples. */
bool context_is_whole(const char *name);

#endif
