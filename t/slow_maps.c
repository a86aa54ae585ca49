/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow_maps.c - a library to preload: fopen() of /proc/PID/maps takes five seconds
 *
 * As on a machine that is so busy that a process gets no CPU for as long.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECONDS 5

static void be_slow(const char *path)
{
	const struct timespec pause = { .tv_sec = SECONDS };
	const size_t len = strlen(path);

	if (len > 5 && !strncmp(path, "/proc/", 6) && !strcmp(path + len - 5, "/maps"))
		nanosleep(&pause, NULL);
}

static FILE *open_by(const char *function, const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *);

	*(void **)&next = dlsym(RTLD_NEXT, function);
	be_slow(path);
	return next(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return open_by("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return open_by("fopen64", path, mode);
}
