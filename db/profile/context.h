/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.h - contexts: the commands, cgroups and labels of samples
 *
 * The name of a context (table context) has a line for each value, in the order of the
 * kinds: "comm=node\ncgroup=/a\n". The name '' stands for all samples. A sample belongs
 * to one context, which has the sample's values of all kinds that are kept. Older
 * databases have names of one kind, without a newline: "comm=node". There a sample
 * belongs to one context of each kind, so two kinds cannot be combined.
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

#define CONTEXT_VALUE_MAX \
	1023 /* bytes of a value; a longer value is replaced by CONTEXT_OTHER */
#define CONTEXT_NAME_SIZE (NR_CONTEXT_KINDS * (CONTEXT_VALUE_MAX + 16))
#define CONTEXT_OTHER     "[other]" /* the value of contexts beyond the limits */
#define CONTEXT_NONE      "none"    /* the word of --by for no kind */

/* The kinds that cpid keeps by default. */
#define CONTEXT_DEFAULT (1u << CONTEXT_COMM | 1u << CONTEXT_CGROUP)

/* Kinds whose values a process can choose and change by itself. */
#define CONTEXT_CHOSEN \
	(1u << CONTEXT_COMM | 1u << CONTEXT_PROCESS | 1u << CONTEXT_THREAD)

const char *context_kind_str(enum context_kind kind);

/*
 * Parses "comm,label" to a bit mask (1 << kind), and "none" to 0. Returns 0, or
 * -EINVAL; then *kinds is unchanged.
 */
int context_parse_kinds(const char *text, unsigned int *kinds);

/*
 * Makes the name of the context with these values. A value is NULL if the context has
 * none of this kind; without any value the name is "". A newline in a value becomes a
 * space. Returns the length of the name.
 */
size_t context_make(const char *const values[NR_CONTEXT_KINDS],
		    char out[CONTEXT_NAME_SIZE]);

/*
 * If there are too many contexts, further samples get a coarser one. There are three
 * tries: the name of context_make(); a name with CONTEXT_OTHER for the kinds of
 * CONTEXT_CHOSEN; and a name with CONTEXT_OTHER for every value. A try may make a new
 * context only if there are fewer than context_bound(); for the first try this is nr.
 */
#define CONTEXT_TRIES 3
size_t context_make_try(const char *const values[NR_CONTEXT_KINDS], int try,
			char out[CONTEXT_NAME_SIZE]);
size_t context_bound(int try, size_t nr);

/*
 * Copies to out the value of a kind in a context's name. Returns NULL if it has none.
 */
const char *context_value(const char *name, enum context_kind kind,
			  char out[CONTEXT_VALUE_MAX + 1]);

/* Bit mask (1 << kind) of the kinds of which the name has a value. */
unsigned int context_kinds(const char *name);

/* Whether the name is of the newer form, in which no two contexts share a sample. */
bool context_is_whole(const char *name);

#endif
