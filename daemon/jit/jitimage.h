/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitimage.h - a code object's unwind tables, as the file that they would be in
 *
 * Whoever unwinds knows linked files only, so the tables get one: a shared object whose
 * offsets are its addresses. The code has its place there, and no bytes. As in perf's
 * files the tables follow it at the next multiple of 8, for they count from themselves.
 */
#ifndef CPI_DAEMON_JITIMAGE_H
#define CPI_DAEMON_JITIMAGE_H

#include <stddef.h>
#include <stdint.h>

#define JITIMAGE_CODE_AT  4096
#define JITIMAGE_MAX_CODE (16u << 20)

struct jitimage;

/* Of code and tables of such sizes; code_size <= JITIMAGE_MAX_CODE. NULL: no memory. */
struct jitimage *jitimage_new(uint64_t code_size, size_t tables_size);
void jitimage_free(struct jitimage *i); /* accepts NULL */

/* Where the caller puts the tables. */
void *jitimage_tables(struct jitimage *i);

/* A file in memory that stays as it is, for the caller to close; or -errno. */
int jitimage_open(const struct jitimage *i);

#endif
