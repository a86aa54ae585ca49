/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * optional_text.h - hashes, compares and copies strings that may be NULL
 */
#ifndef CPI_REPORT_OPTIONAL_TEXT_H
#define CPI_REPORT_OPTIONAL_TEXT_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static inline uint64_t optional_text_hash(uint64_t seed, const char *s)
{
	return s ? hash_bytes(seed, s, strlen(s)) : seed;
}

static inline bool optional_text_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/*
 * Sets *to to a copy of the string from, or to NULL if from is NULL. The caller
 * frees the copy. Returns 0 or -ENOMEM.
 */
static inline int optional_text_copy(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

#endif
