/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * origins_dump.c - functions and lines of addresses, as compilers name them:
 * origins_dump FILE <ADDRESSES
 *
 * Reads link-time addresses in hexadecimal. Writes for each a line "0xADDRESS", then
 * " FUNCTION START LINE DISCRIMINATOR COPIES" of the stack, tab-separated, the
 * procedure first.
 */
#include "config.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/image/image.h"
#include "base/err.h"

static void dump(struct image *im, uint64_t address)
{
	struct origin o[IMAGE_MAX_ORIGINS];
	uint64_t offset;
	size_t nr = 0;

	if (image_offset(im, address, &offset))
		nr = image_origins_at(im, offset, o);
	printf("0x%" PRIx64, address);
	for (size_t i = 0; i < nr; i++)
		printf("\t%s %d %d %u %u", o[i].function, o[i].start, o[i].line,
		       o[i].discriminator, o[i].copies);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct image_desc desc = { .kind = IMAGE_FILE };
	struct image *im;
	uint64_t address;
	int error;

	if (argc != 2)
		errx(EXIT_FAILURE, "usage: origins_dump FILE <ADDRESSES");
	desc.name = argv[1];
	error = image_open(&desc, NULL, &im);
	if (error)
		errx(EXIT_FAILURE, "%s: %s", argv[1], err_str(error));
	while (scanf("%" SCNx64, &address) == 1)
		dump(im, address);
	image_close(im);
	return EXIT_SUCCESS;
}
