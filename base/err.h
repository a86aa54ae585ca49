/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err.h - error numbers: the system's, and CPI's own beyond them
 *
 * A function that can fail returns 0 or a negative number: -errno or one of
 * -CPI_E… below. err_str() takes either.
 */
#ifndef CPI_BASE_ERR_H
#define CPI_BASE_ERR_H

#include <stdbool.h>

#define CPI_ERRORS(X)                                   \
	X(CORRUPT, "the data is damaged")               \
	X(FORMAT, "not in a format that CPI knows")     \
	X(VERSION, "written by a newer version of CPI") \
	X(TRUNCATED, "the data ends too early")         \
	X(MISMATCH, "not the file that was profiled")   \
	X(NOSYMBOL, "no such procedure")                \
	X(NOCODE, "the code bytes are not available")   \
	X(NOIMAGE, "the image cannot be opened")        \
	X(EMPTY, "no samples match")                    \
	X(LIMIT, "a limit was reached")                 \
	X(INUSE, "another process holds it")            \
	X(TOOMANY, "the name is ambiguous")             \
	X(MOVED, "the database was deleted or replaced")

enum cpi_error {
	CPI_EFIRST = 4096, /* above every errno */
#define CPI_ERROR_ENUM(name, text) CPI_E##name,
	CPI_ERRORS(CPI_ERROR_ENUM)
#undef CPI_ERROR_ENUM
};

/* Whether the stored data are at fault, so that trying again gives the same error. */
bool err_is_lasting(int err);

/* Whether descriptors, memory or processes were short, or a lock was held (-EBUSY). */
bool err_is_shortage(int err);

/* Text for a negative error number; never NULL, owned by nobody. */
const char *err_str(int err);

#endif
