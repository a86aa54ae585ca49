/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - lines of source files
 */
#ifndef CPI_REPORT_SOURCE_H
#define CPI_REPORT_SOURCE_H

#include "analysis/image/image.h"
#include "report/select/remote.h"

struct sources;

struct sources *sources_new(void);    /* NULL when out of memory */
void sources_free(struct sources *s); /* accepts NULL */

/*
 * From now on, requests missing files of the image from remote unless that is NULL.
 * remote and image must outlive s.
 */
void sources_ask(struct sources *s, struct remote *remote,
		 const struct image_desc *image);

/*
 * Returns line nr (from 1) of path, with blanks for tabs and without the newline; NULL
 * if the line does not exist or the file cannot be read. Valid as long as s.
 */
const char *sources_line(struct sources *s, const char *path, int nr);

#endif
