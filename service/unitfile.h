/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unitfile.h - files of settings, in the style of systemd's units
 *
 *	# a comment; ';' begins one, too
 *	[cpid]
 *	budget = 0.5%
 *
 * A setting is one line, NAME = VALUE. Spaces around name and value are ignored, and an
 * empty value is valid. There are no quotes and no continued lines. Names consist of
 * letters, digits, '-' and '_'. A file has one section, whose name the caller gives.
 */
#ifndef CPI_SERVICE_UNITFILE_H
#define CPI_SERVICE_UNITFILE_H

#include <stdbool.h>
#include <stddef.h>

#define UNITFILE_MAX_BYTES 65536 /* of a file */
#define UNITFILE_MAX_LINE  4096  /* of a line, with its end */

/* A place in a file; both count from 1, and a column is a byte. */
struct unitfile_place {
	unsigned int line, column;
};

struct unitfile_setting {
	const char *name, *value; /* valid during the call */
	struct unitfile_place name_at, value_at;
};

/* Why a file was refused; text is a constant. */
struct unitfile_error {
	struct unitfile_place at;
	const char *text;
	bool wants_section; /* the text ends with the header of the file's section */
};

/* Returns 0, or an error, which ends the parse. */
typedef int (*unitfile_fn)(void *ctx, const struct unitfile_setting *s);

/*
 * Calls fn for each setting of text, in order. Returns 0; -EINVAL if the text is not a
 * valid file, and then *error says why; or the error of fn.
 */
int unitfile_parse(const char *text, size_t len, const char *section, unitfile_fn fn,
		   void *ctx, struct unitfile_error *error);

/* The program that reads the files. */
struct unitfile_reader {
	const char *program; /* begins each message */
	const char *section;
	/* Called for each setting. It reports a setting that it refuses. */
	int (*setting)(void *ctx, const char *file, const struct unitfile_setting *s);
	void *ctx;
};

/*
 * Reads path, which may be missing if may_miss, then path.d/NAME.conf in the order of
 * the names' bytes. Returns 0, the error of the function, or another negative error,
 * after a message on stderr that says what is wrong and where.
 */
int unitfile_read(const struct unitfile_reader *reader, const char *path,
		  bool may_miss);

#endif
