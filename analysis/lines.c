/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/lines.h"

struct line lines_at(struct debuginfo *d, uint64_t address)
{
	struct line line = { NULL, 0 };
	Dwarf_Line *row;
	Dwarf_Die die;
	uint32_t unit;
	int number;

	if (!debuginfo_unit_at(d, address, &unit) || !debuginfo_die(d, unit, &die) ||
	    !debuginfo_load_rows(d, unit, &die))
		return line;
	row = dwarf_getsrc_die(&die, address);
	if (!row || dwarf_lineno(row, &number) != 0 || number <= 0)
		return line;
	line.file = dwarf_linesrc(row, NULL, NULL);
	line.line = line.file ? number : 0;
	if (line.file)
		line.file = debuginfo_full_name(d, unit, line.file);
	return line;
}
