/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Line tables are loaded by unit when an address first needs them, and debuginfo_trim()
 * may drop the tables of other units again. So a function that calls back copies the
 * addresses of a unit's rows before it does.
 */
#include "config.h"

#include "analysis/image/lines.h"

#include <errno.h>
#include <stdlib.h>

static Dwarf_Line *row_at(struct debuginfo *d, uint64_t address, uint32_t *unit)
{
	Dwarf_Die die;

	debuginfo_trim(d);
	if (!debuginfo_unit_at(d, address, unit) || !debuginfo_die(d, *unit, &die) ||
	    !debuginfo_load_rows(d, *unit, &die))
		return NULL;
	return dwarf_getsrc_die(&die, address);
}

struct line lines_at(struct debuginfo *d, uint64_t address)
{
	struct line line = { NULL, 0 };
	const char *name;
	Dwarf_Line *row;
	uint32_t unit;
	int number;

	row = row_at(d, address, &unit);
	if (!row || dwarf_lineno(row, &number) != 0 || number <= 0)
		return line;
	name = dwarf_linesrc(row, NULL, NULL);
	line.file = name ? debuginfo_full_name(d, unit, name) : NULL;
	line.line = line.file ? number : 0;
	return line;
}

int lines_number_at(struct debuginfo *d, uint64_t address, unsigned int *discriminator)
{
	uint32_t unit;
	Dwarf_Line *row = row_at(d, address, &unit);
	int number;

	if (!row || dwarf_lineno(row, &number) != 0 || number <= 0 ||
	    dwarf_linediscriminator(row, discriminator) != 0)
		return 0;
	return number;
}

/* fn may have the rows trimmed: their addresses are taken before. */
static int each_of_unit(struct debuginfo *d, uint32_t unit,
			int (*fn)(void *ctx, uint64_t address), void *ctx)
{
	uint64_t *addresses;
	Dwarf_Lines *rows;
	Dwarf_Addr address;
	Dwarf_Die die;
	size_t nr, n = 0;
	bool ends;
	int err = 0;

	if (!debuginfo_die(d, unit, &die) || !debuginfo_load_rows(d, unit, &die) ||
	    dwarf_getsrclines(&die, &rows, &nr) != 0)
		return 0;
	addresses = reallocarray(NULL, nr + 1, sizeof(*addresses));
	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);

		if (dwarf_lineaddr(row, &address) == 0 &&
		    dwarf_lineendsequence(row, &ends) == 0 && !ends)
			addresses[n++] = address;
	}
	for (size_t i = 0; i < n && !err; i++)
		err = fn(ctx, addresses[i]);
	free(addresses);
	return err;
}

int lines_each(struct debuginfo *d, int (*fn)(void *ctx, uint64_t address), void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < debuginfo_nr_units(d) && !err; i++) {
		debuginfo_trim(d);
		err = each_of_unit(d, (uint32_t)i, fn, ctx);
	}
	return err;
}
