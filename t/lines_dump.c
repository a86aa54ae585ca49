/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines_dump.c - the lines and inlined calls of addresses: lines_dump FILE [DIRECTORY]
 * <ADDRESSES
 *
 * DIRECTORY has debug files, ordered as /usr/lib/debug.
 * Reads link-time addresses in hexadecimal. Writes for each a line "0xADDRESS", then
 * " FUNCTION FILE:LINE", tab-separated, the innermost function first; the last has no
 * name. "?" is what is not known.
 */
#include "config.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/image/image.h"
#include "base/err.h"

static void print(const char *name, const struct line *line)
{
	printf("\t%s %s:%d", name, line->file ? line->file : "?", line->line);
}

static void dump(struct image *im, uint64_t address)
{
	const struct inlined *inlined;
	struct line line;
	uint64_t offset;
	size_t nr;

	printf("0x%" PRIx64, address);
	if (image_offset(im, address, &offset)) {
		line = image_line_at(im, offset);
		nr = image_inlined_at(im, offset, &inlined);
		for (size_t i = 0; i < nr; i++) {
			print(inlined[i].name, &line);
			line = inlined[i].call;
		}
		print("", &line);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct image_desc desc = { .kind = IMAGE_FILE };
	struct image_search search = { .directory = NULL };
	struct image *im;
	uint64_t address;
	int error, fd;

	if (argc < 2 || argc > 3)
		errx(EXIT_FAILURE, "usage: lines_dump FILE [DIRECTORY] <ADDRESSES");
	desc.name = argv[1];
	search.directory = argv[2];
	fd = open(desc.name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(EXIT_FAILURE, "%s", desc.name);
	error = image_open_searching(&desc, fd, desc.name, &search, &im);
	if (error)
		errx(EXIT_FAILURE, "%s: %s", desc.name, err_str(error));
	while (scanf("%" SCNx64, &address) == 1)
		dump(im, address);
	if (image_missing_lines(im))
		warnx("%s: %s", desc.name, image_missing_lines(im));
	image_close(im);
	return EXIT_SUCCESS;
}
