/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_dwarf.c - lines and inlined calls of any program, with any package beside it
 *
 * An input is a program, a line "DWP", and the package; or a program alone. dwarf_seeds
 * makes the corpus.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/image/image.h"
#include "base/file.h"
#include "t/fuzz/fuzz.h"
#include "t/unit/image_ask.h"

#define MARK "\nDWP\n"

/* Beside each other, in a directory that is gone when this returns. */
static void ask(const char *program, const uint8_t *data, size_t size,
		const char *package, const uint8_t *rest, size_t rest_size)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = program };
	struct image *im;
	int fd;

	fd = open(program, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	fuzz_check(fd >= 0 && file_write(fd, data, size) == 0);
	close(fd);
	fd = open(package, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	fuzz_check(fd >= 0 && file_write(fd, rest, rest_size) == 0);
	close(fd);
	if (image_open(&desc, NULL, &im) == 0) {
		fuzz_check(image_ask(im, size));
		image_missing_lines(im);
		image_close(im);
	}
	unlink(program);
	unlink(package);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *mark = memmem(data, size, MARK, strlen(MARK));
	const size_t first = mark ? (size_t)(mark - data) : size;
	const size_t rest = mark ? first + strlen(MARK) : size;
	char directory[] = "/dev/shm/cpi-fuzz-XXXXXX", program[64], package[64];

	fuzz_check(mkdtemp(directory));
	snprintf(program, sizeof(program), "%s/p", directory);
	snprintf(package, sizeof(package), "%s/p.dwp", directory);
	ask(program, data, first, package, data + rest, size - rest);
	rmdir(directory);
	return 0;
}
