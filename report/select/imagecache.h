/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagecache.h - the images of a database, opened for their symbols and code
 *
 * Files are opened where they lie, if they are still what was profiled;
 * everything else comes from what was captured. A few stay open.
 */
#ifndef CPI_REPORT_IMAGECACHE_H
#define CPI_REPORT_IMAGECACHE_H

#include "analysis/image/image.h"
#include "db/query/query.h"
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
 * machine is of images that were captured. Each image that cannot be opened is logged
 * at most once. NULL when out of memory.
 */
struct image_cache *image_cache_new(struct db *db, enum machine machine,
				    enum image_warnings warn);
void image_cache_free(struct image_cache *cache); /* accepts NULL */

/* Keeps up to nr images open (at least 1), for callers that read all of them twice. */
void image_cache_hold(struct image_cache *cache, size_t nr);

/*
 * Debug files are looked for in debug_dir (or $CPI_DEBUG_DIR), too; and on servers, as
 * are programs that are gone, with debuginfod (or $CPI_DEBUGINFOD not empty or "0").
 * 0, -ENODATA (logged), -ENOMEM. debug_dir may be NULL, and stays.
 */
int image_cache_search(struct image_cache *cache, const char *debug_dir,
		       bool debuginfod);

/* Where the cache's images have debug files; the cache's. */
const struct image_search *image_cache_places(const struct image_cache *cache);

/* The debuginfod servers to ask for sources, or NULL; the cache's. */
struct remote *image_cache_remote(const struct image_cache *cache);

/*
 * The image, valid until the next call. Returns 0, -ENOMEM, or why it cannot
 * be opened: callers go on without names.
 */
int image_cache_get(struct image_cache *cache, const struct query_image *row,
		    struct image **out);

/* Warns, once, when lines were asked of the image and something is missing. */
void image_cache_warn_lines(struct image_cache *cache, const struct query_image *row,
			    const struct image *image);

/* How many images could not be opened so far. */
size_t image_cache_nr_failed(const struct image_cache *cache);

/* What err of image_cache_get() means for such an image, for people. */
const char *image_cache_why(const struct image_desc *desc, int err);

/* Why an open image of this kind may have no code, for people. */
const char *image_missing_code(const struct image_desc *desc);

#endif
