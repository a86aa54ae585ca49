/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.h - whom a profile is of, beside everybody
 *
 * The table context has names "KIND=VALUE". A sample is in one context of each kind
 * that was kept, and had a value; of two kinds together nothing is kept.
 */
#ifndef CPI_DB_CONTEXT_H
#define CPI_DB_CONTEXT_H

/* The names are stored, and are the words of --by: never rename one. */
#define CONTEXT_KINDS(X)                   \
	X(COMM, "comm")                    \
	X(CGROUP, "cgroup") /* its path */ \
	X(LABEL, "label")                  \
	X(PROCESS, "process") /* COMM:PID */

enum context_kind {
#define CONTEXT_KIND_ENUM(name, text) CONTEXT_##name,
	CONTEXT_KINDS(CONTEXT_KIND_ENUM)
#undef CONTEXT_KIND_ENUM
		NR_CONTEXT_KINDS
};

#define CONTEXT_VALUE_MAX 1023 /* bytes of a value; longer ones are CONTEXT_OTHER */
#define CONTEXT_OTHER     "[other]" /* beyond what is kept at a time */

const char *context_kind_str(enum context_kind kind);

/* "comm,label": *kinds gets 1 << kind for each, unchanged on failure. 0 or -EINVAL. */
int context_parse_kinds(const char *text, unsigned int *kinds);

/* The VALUE of a context's name, where it is of this kind, or NULL. */
const char *context_value(const char *name, enum context_kind kind);

#endif
