/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_kept.h - rows by procedure that an earlier run has made
 *
 * To find which procedures samples are in, a report opens all images of its selection.
 * Reports by instruction need this, too (procedure_evidence.h). So the rows of a
 * selection are kept, as a file of the cache (cachefile.h), and used as long as the
 * selection has the same content (content.h) and everything that was looked at to find
 * procedures is as it was (imagetrail.h).
 */
#ifndef CPI_REPORT_PROF_KEPT_H
#define CPI_REPORT_PROF_KEPT_H

#include "report/profile/prof.h"
#include "report/select/imagecache.h"

struct prof_kept;

/*
 * *out is NULL if the request's rows are not kept: they are not simply by procedure,
 * time is not counted by samples, or servers are asked for debug files. images is the
 * cache that the rows are made with. Call it before anything is read. 0 or -ENOMEM.
 */
int prof_kept_open(const struct prof *p, struct image_cache *images,
		   struct prof_kept **out);
void prof_kept_close(struct prof_kept *k); /* accepts NULL */

/*
 * Fills p with the kept rows, and logs which images could not be opened, as images
 * does. 0, -ENOENT if there are none to be used, or -ENOMEM.
 */
int prof_kept_load(struct prof_kept *k, struct prof *p, struct image_cache *images);

/* What the images depend on, for image_cache_follow(); belongs to k. */
struct image_trail *prof_kept_trail(struct prof_kept *k);

/* Notes the image of some of the rows. 0 or -ENOMEM. */
int prof_kept_image(struct prof_kept *k, const struct query_image *image);

/* Keeps the rows of p, in which only profiles were gathered. A failure only costs time.
 */
void prof_kept_save(struct prof_kept *k, const struct prof *p);

#endif
