/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolfile.h - the procedures of files, kept between runs
 *
 * Most of the time of a report is for reading and sorting symbols and frame
 * descriptions of programs that do not change. So they are kept in a file for each
 * program (cachefile.h), at most 64 MiB for all. It is used while program and debug
 * file have the same device, inode, size and times of change.
 */
#ifndef CPI_REPORT_SYMBOLFILE_H
#define CPI_REPORT_SYMBOLFILE_H

#include "analysis/image/image.h"

/*
 * For the members recall and keep of struct image_search. ctx is a bool, which
 * symbolfile_keep() sets if it wrote a file; then call symbolfile_limit() at the end.
 */
int symbolfile_recall(void *ctx, const struct image_desc *desc,
		      const struct file_stamp origin[2], struct symtab *t);
void symbolfile_keep(void *ctx, const struct image_desc *desc,
		     const struct file_stamp origin[2], const struct symtab *t);

/* Removes old files if there are too many. */
void symbolfile_limit(void);

#endif
