/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - runs a fuzz target on files, where there is no libFuzzer
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "t/fuzz/fuzz.h"

#define MAX_INPUT (64 << 20)

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct buf b = { 0 };
		uint8_t *input;
		int err = file_read_all(AT_FDCWD, argv[i], MAX_INPUT, &b);

		/* A copy of the exact size: sanitizers see a read beyond it. */
		input = err ? NULL : malloc(b.len ? b.len : 1);
		if (!input) {
			fprintf(stderr, "%s: %s: %s\n", argv[0], argv[i], err_str(err));
			return EXIT_FAILURE;
		}
		if (b.len)
			memcpy(input, b.data, b.len);
		LLVMFuzzerTestOneInput(input, b.len);
		free(input);
		buf_fini(&b);
	}
	return EXIT_SUCCESS;
}
