/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_image.c - any file opens and answers, or is refused
 *
 * Its corpus is small; t/fixtures/elf is a good second folder to start from.
 */
#include "config.h"

#include <sys/mman.h>
#include <unistd.h>

#include "analysis/image/image.h"
#include "base/file.h"
#include "t/fuzz/fuzz.h"
#include "t/unit/image_ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = "fuzz" };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct image *im;

	fuzz_check(fd >= 0 && file_write(fd, data, size) == 0);
	if (image_open_fd(&desc, fd, NULL, &im) == 0) {
		fuzz_check(image_ask(im, size));
		image_close(im);
	}
	return 0;
}
