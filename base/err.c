/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err.c - classes of errors, and their texts
 *
 * The texts of CPI's own errors come from CPI_ERRORS; those of the system from libc.
 */
#include "config.h"

#include "base/err.h"

#include <errno.h>
#include <string.h>

bool err_is_lasting(int err)
{
	return err == -CPI_ECORRUPT || err == -CPI_ETRUNCATED || err == -CPI_EVERSION ||
	       err == -CPI_ELIMIT || err == -EOVERFLOW;
}

bool err_is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOBUFS ||
	       err == -EAGAIN || err == -EBUSY;
}

const char *err_str(int err)
{
	if (err < 0)
		err = -err;
	switch (err) {
#define CPI_ERROR_TEXT(name, text) \
	case CPI_E##name:          \
		return text;
		CPI_ERRORS(CPI_ERROR_TEXT)
#undef CPI_ERROR_TEXT
	}
	return strerror(err);
}
