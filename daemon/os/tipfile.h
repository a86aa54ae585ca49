/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tipfile.h - files of TIP records (abi/tip.h), read and written as streams
 */
#ifndef CPI_DAEMON_TIPFILE_H
#define CPI_DAEMON_TIPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/tip.h"

#define TIPFILE_NAME_MAX 255
#define TIPFILE_TEXT_MAX (CPI_TIP_MAX_ITEM - 16)

struct tipfile_info {
	uint64_t interval;
	unsigned int banks;
	char name[TIPFILE_NAME_MAX + 1]; /* of what ran */
};

/* An instruction, as the trace names it. */
struct tipfile_code {
	uint64_t address;
	bool begins_function;
	char text[TIPFILE_TEXT_MAX + 1];
};

struct tipfile_writer;

/* Makes the file, or empties it. 0, -errno, -EINVAL (info), -ENOMEM. */
int tipfile_create(const char *path, const struct tipfile_info *info,
		   struct tipfile_writer **out);

/*
 * 0 or -errno; -EINVAL: more instructions than banks. A long text is cut, and its
 * control characters become blanks.
 */
int tipfile_put_sample(struct tipfile_writer *w, const struct cpi_tip_sample *s);
int tipfile_put_code(struct tipfile_writer *w, const struct tipfile_code *code);

/* Writes the end and closes it. 0 or -errno. */
int tipfile_end(struct tipfile_writer *w);
void tipfile_abandon(struct tipfile_writer *w); /* without an end; accepts NULL */

struct tipfile;

/*
 * 0, -errno, -CPI_EFORMAT, -CPI_EVERSION, -CPI_ETRUNCATED, -CPI_ECORRUPT, -ENOMEM.
 * tipfile_open_stream() takes the stream over, and closes it on failure.
 */
int tipfile_open(const char *path, struct tipfile **out);
int tipfile_open_stream(FILE *stream, struct tipfile **out);
void tipfile_close(struct tipfile *f); /* accepts NULL */

const struct tipfile_info *tipfile_info(const struct tipfile *f);

/*
 * Reads the next record or code item. Returns its type; 0 at the end mark of a
 * complete file, or -CPI_ECORRUPT, -CPI_ETRUNCATED, -errno.
 */
union tipfile_item {
	struct cpi_tip_sample sample;
	struct tipfile_code code;
};
int tipfile_next(struct tipfile *f, union tipfile_item *out);

uint64_t tipfile_where(const struct tipfile *f); /* the item's offset in the file */

#endif
