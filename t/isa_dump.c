/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_dump FILE - every instruction of FILE's procedures, for 0300-isa-objdump.t
 *
 * A line "PROCEDURE ADDRESS SIZE TEXT" each, in hexadecimal but for the size.
 * What nests in another procedure is listed as part of both.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "base/err.h"

static int dump(struct image *im, struct isa *isa, const struct symbol *s)
{
	size_t size = s->end - s->start;
	uint8_t *code = malloc(size);
	char text[ISA_TEXT_SIZE];
	struct insn insn;
	int err;

	if (!code)
		return -ENOMEM;
	err = image_read(im, s->start, code, size);
	for (size_t at = 0; !err && at < size; at += insn.size) {
		if (isa_decode(isa, code + at, size - at,
			       image_address(im, s->start + at), &insn))
			break; /* cut off by the procedure's end */
		printf("%" PRIx64 " %" PRIx64 " %u %s\n", image_address(im, s->start),
		       insn.address, insn.size, isa_text(isa, &insn, text));
	}
	free(code);
	return err;
}

int main(int argc, char **argv)
{
	struct image_desc desc = { .kind = IMAGE_FILE,
				   .name = argc > 1 ? argv[1] : "" };
	const struct symbol *const *s;
	struct isa *isa = NULL;
	struct image *im;
	size_t nr;
	int err;

	err = image_open(&desc, NULL, &im);
	if (err) {
		fprintf(stderr, "%s: %s\n", desc.name, err_str(err));
		return EXIT_FAILURE;
	}
	err = isa_open(image_machine(im), &isa);
	s = image_symbols(im, &nr);
	for (size_t i = 0; !err && i < nr; i++)
		err = dump(im, isa, s[i]);
	if (err)
		fprintf(stderr, "%s: %s\n", desc.name, err_str(err));
	isa_close(isa);
	image_close(im);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
