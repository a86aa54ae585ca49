/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagecache.h - the images of a database, opened for their symbols and code
 *
 * A file is opened at its path if it still has the content that was profiled. Otherwise
 * the image is made from the captured data in the database. A few images stay open.
 */
#ifndef CPI_REPORT_IMAGECACHE_H
#define CPI_REPORT_IMAGECACHE_H

#include "analysis/image/image.h"
#include "db/query/query.h"
#include "report/select/imagetrail.h"
#include "report/select/remote.h"

struct image_cache;

/* How many of the images that cannot be opened are logged by name. */
enum image_warnings {
	IMAGE_WARN_NEVER,
	IMAGE_WARN_ONE, /* then the number of the others */
	IMAGE_WARN_TEN, /* the same */
	IMAGE_WARN_ALL,
};

/*
 * `machine` (x86-64 or AArch64) is the architecture of the code that the database
 * has captured. An image that cannot be opened is logged at most once. Returns
 * NULL when out of memory.
 */
struct image_cache *image_cache_new(struct db *db, enum machine machine,
				    enum image_warnings warn);
void image_cache_free(struct image_cache *cache); /* accepts NULL */

/* Keeps up to nr images open (at least 1), for callers that read all of them twice. */
void image_cache_hold(struct image_cache *cache, size_t nr);

/* Images that are open now stay open, also beyond that number; false ends this. */
void image_cache_pin(struct image_cache *cache, bool pinned);

/*
 * Adds places to search. Debug files are also searched in debug_dir, or in
 * $CPI_DEBUG_DIR if it is NULL. With debuginfod, or if $CPI_DEBUGINFOD is set and not
 * "0", debug files and missing programs are also requested from servers. debug_dir must
 * outlive the cache. Returns 0, -ENODATA (logged) or -ENOMEM.
 */
int image_cache_search(struct image_cache *cache, const char *debug_dir,
		       bool debuginfod);

/* From now on adds to t what opening an image depends on, and each failure. */
void image_cache_follow(struct image_cache *cache, struct image_trail *t);

/* Logs the failures of a trail, as if this cache had found them. They are untrusted. */
void image_cache_fail_again(struct image_cache *cache, const char *failures,
			    size_t size);

/* Where the cache searches for debug files. Belongs to the cache. */
const struct image_search *image_cache_places(const struct image_cache *cache);

/* The debuginfod servers for sources, or NULL. Belongs to the cache. */
struct remote *image_cache_remote(const struct image_cache *cache);

/*
 * Opens an image, which stays valid until the next call. Returns 0, -ENOMEM, or the
 * reason why it cannot be opened; in that case callers continue without names.
 */
int image_cache_get(struct image_cache *cache, const struct query_image *row,
		    struct image **out);

/*
 * Identifies everything that an open image was read from: the files and their state, or
 * what was captured. Two images with the same mark are the same; !known: no mark.
 */
struct image_mark {
	uint64_t hash[2];
	bool known;
};

struct image_mark image_cache_mark(struct image_cache *cache,
				   const struct query_image *row);

/* Warns once if the image lacks data that source lines need. */
void image_cache_warn_lines(struct image_cache *cache, const struct query_image *row,
			    const struct image *image);

/* The number of images that could not be opened so far. */
size_t image_cache_nr_failed(const struct image_cache *cache);

/* Explains an error of image_cache_get() as text. */
const char *image_cache_why(const struct image_desc *desc, int err);

/* Explains as text why an open image of this kind has no code. */
const char *image_missing_code(const struct image_desc *desc);

#endif
