/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitimage.h - makes an ELF file that contains the unwind tables of a code object
 *
 * An unwinder reads tables only from linked files. So the tables are put into a shared
 * object whose offsets equal its addresses. It has space for the code, but not its
 * bytes. The tables follow the code at the next multiple of 8, as in perf's files,
 * because their addresses are relative to the tables.
 */
#ifndef CPI_DAEMON_JITIMAGE_H
#define CPI_DAEMON_JITIMAGE_H

#include <stddef.h>
#include <stdint.h>

#define JITIMAGE_CODE_AT  4096
#define JITIMAGE_MAX_CODE (16u << 20)

struct jitimage;

/*
 * Makes an image for code and tables of these sizes; code_size <= JITIMAGE_MAX_CODE.
 * NULL: out of memory.
 */
struct jitimage *jitimage_new(uint64_t code_size, size_t tables_size);
void jitimage_free(struct jitimage *i); /* accepts NULL */

/* Returns where the caller must write the tables. */
void *jitimage_tables(struct jitimage *i);

/*
 * Returns a descriptor of a sealed file in memory, which the caller closes; or -errno.
 */
int jitimage_open(const struct jitimage *i);

#endif
