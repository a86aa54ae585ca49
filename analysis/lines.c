/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/lines.h"

struct line lines_at(struct debuginfo *d, uint64_t address)
{
	struct line line = { NULL, 0 };
	const char *name;
	Dwarf_Line *row;
	Dwarf_Die die;
	uint32_t unit;
	int number;

	debuginfo_trim(d);
	if (!debuginfo_unit_at(d, address, &unit) || !debuginfo_die(d, unit, &die) ||
	    !debuginfo_load_rows(d, unit, &die))
		return line;
	row = dwarf_getsrc_die(&die, address);
	if (!row || dwarf_lineno(row, &number) != 0 || number <= 0)
		return line;
	name = dwarf_linesrc(row, NULL, NULL);
	line.file = name ? debuginfo_full_name(d, unit, name) : NULL;
	line.line = line.file ? number : 0;
	return line;
}
