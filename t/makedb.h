/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * makedb.h - what programs that write databases for tests have in common
 */
#ifndef CPI_T_MAKEDB_H
#define CPI_T_MAKEDB_H

#include <err.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/times.h"
#include "db/profile/model.h"

#define START_NS  1767322800000000000ULL /* 2026-01-02T03:00:00Z */
#define MINUTE_NS (60 * NSEC_PER_SEC)
#define NR(array) (sizeof(array) / sizeof((array)[0]))

static inline struct platform_desc makedb_platform(void)
{
	return (struct platform_desc){
		.host = "web1",
		.arch = "x86_64",
		.cpu = "Test CPU",
		.release = "6.1.0",
		.boot_id = "00000000-0000-0000-0000-000000000001",
		.clock_hz = 2000000000,
		.nr_cpus = 2,
	};
}

static inline void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

/* A file that is there, by what stat says of it. */
static inline struct image_desc makedb_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		err(EXIT_FAILURE, "%s", path);
	return (struct image_desc){
		.kind = IMAGE_FILE,
		.name = path,
		.device = st.st_dev,
		.inode = st.st_ino,
		.size = st.st_size,
		.mtime_ns = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec,
	};
}

#endif
