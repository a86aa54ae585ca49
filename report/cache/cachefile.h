/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cachefile.h - what this program has computed, kept for its next run
 *
 * The files are in ~/.cache/cpi, or below $XDG_CACHE_HOME. A file is used only by the
 * same build of this program, since another one may compute something else, and only
 * for the same key: what the content was computed from. A sum finds damage. The caller
 * must be safe from forged content, which only the user could have written. There are
 * no files if the home directory is missing or another user's, or if another user may
 * write to the cache directory. Every failure only costs time.
 */
#ifndef CPI_REPORT_CACHEFILE_H
#define CPI_REPORT_CACHEFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define CACHEFILE_MAX_KEY 256

struct cachefile {
	const char *name; /* without "/" */
	const void *key;
	size_t key_size; /* at most CACHEFILE_MAX_KEY */
	size_t max_size; /* of the content */
};

/* Appends the file's content to out. 0, -ESTALE, -CPI_ECORRUPT or -errno. */
int cachefile_load(const struct cachefile *f, struct buf *out);

/*
 * Opens a file whose content is read in parts: *size is that of the content. The sum is
 * not checked. Returns a descriptor, or an error as above.
 */
int cachefile_open(const struct cachefile *f, uint64_t *size);
int cachefile_read(int fd, uint64_t at, void *out, size_t size); /* 0 or -errno */

/* Replaces the file. 0 or -errno. */
int cachefile_save(const struct cachefile *f, const void *data, size_t size);

/*
 * If all files whose names begin with prefix have more than max_bytes together, removes
 * those that were written first, until they have three quarters of that.
 */
void cachefile_limit(const char *prefix, uint64_t max_bytes);

#endif
