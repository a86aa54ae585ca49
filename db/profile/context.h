/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.h - commands, cgroups and labels that profiles are kept by
 *
 * Table context has names "KIND=VALUE"; the name '' stands for all samples. A sample is
 * in one context of each kind that is kept and for which it has a value. There are no
 * contexts of two kinds together.
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

/* Reads "comm,label" as 1 << kind for each kind. 0, or -EINVAL; then *kinds stays. */
int context_parse_kinds(const char *text, unsigned int *kinds);

/* The VALUE in a context's name if it is of this kind, else NULL. */
const char *context_value(const char *name, enum context_kind kind);

#endif
