/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verified.h - which files were found to have which content, kept between runs
 *
 * A report uses a program's file only if a hash shows that its content is the content
 * that ran. If its device, inode, size and times of change are the same as in an
 * earlier run of the report, its content is too, and the file need not be read.
 */
#ifndef CPI_REPORT_VERIFIED_H
#define CPI_REPORT_VERIFIED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct verified;

struct verified *verified_open(void);    /* NULL when out of memory */
void verified_close(struct verified *v); /* keeps what is new; accepts NULL */

/* Whether the file with this status has this content, a hash of CONTENT_HASH_SIZE. */
bool verified_knows(const struct verified *v, const struct stat *st,
		    const uint8_t *content);

/*
 * Notes that it has, unless it was changed a moment ago: it may change again without
 * another time of change. now_ns is real time.
 */
void verified_note(struct verified *v, const struct stat *st, const uint8_t *content,
		   uint64_t now_ns);

#endif
