/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_fixture.h - the ELF files of t/fixtures/elf, and damaged copies of them
 */
#ifndef CPI_T_UNIT_ELF_FIXTURE_H
#define CPI_T_UNIT_ELF_FIXTURE_H

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/image/image.h"
#include "base/buf.h"
#include "base/file.h"

/* The path of a fixture; the string is one of a few that take turns. */
static inline const char *fixture(const char *name)
{
	static char path[4][4096];
	static unsigned int turn;
	const char *source = getenv("srcdir");
	char *out = path[turn++ % 4];

	snprintf(out, sizeof(path[0]), "%s/t/fixtures/elf/%s", source ? source : ".",
		 name);
	return out;
}

static inline struct image *fixture_open(const char *name)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = fixture(name) };
	struct image *im;

	ck_assert_int_eq(image_open(&desc, NULL, &im), 0);
	return im;
}

static inline struct buf fixture_bytes(const char *name)
{
	struct buf b = { 0 };

	ck_assert_int_eq(file_read_all(AT_FDCWD, fixture(name), 1 << 20, &b), 0);
	return b;
}

/* Opens bytes as a file. The result is image_open_fd()'s. */
static inline int fixture_open_bytes(const void *bytes, size_t size, struct image **out)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = "damaged" };
	int fd = memfd_create("damaged", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, bytes, size), 0);
	return image_open_fd(&desc, fd, NULL, out);
}

#endif
