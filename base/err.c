/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/err.h"

#include <string.h>

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
