/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw_text.c - the names of what hardware tells
 */
#include "config.h"

#include "t/records/text.h"

#define TEXT(name, text) text,

const char *hw_flag_str(enum hw_flag flag)
{
	static const char *const text[] = { HW_FLAGS(TEXT) };

	return (unsigned int)flag < HW_NR_FLAGS ? text[flag] : "?";
}

const char *hw_value_str(enum hw_value value)
{
	static const char *const text[] = { HW_VALUES(TEXT) };

	return (unsigned int)value < HW_NR_VALUES ? text[value] : "?";
}

const char *hw_data_source_str(enum hw_data_source source)
{
	static const char *const text[] = { HW_DATA_SOURCES(TEXT) };

	return (unsigned int)source < HW_NR_DATA_SOURCES ? text[source] : "?";
}
