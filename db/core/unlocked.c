/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unlocked.c - compares a database with what it was when it was opened without locks
 */
#include "config.h"

#include "db/core/unlocked.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/times.h"
#include "db/core/place.h"

/* The kernel's clock of files has steps of 10 ms at most. */
#define STEP_NS (20 * NSEC_PER_MSEC)
#define TRIES   100

/* Returns 0 if the file alone has all content, 1 if not, or -errno. */
static int look_beside(const char *path)
{
	static const char *const none[] = { "-shm", "-journal" };
	struct stat st;
	int err;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		err = place_stat_beside(path, none[i], &st);
		if (err != -ENOENT)
			return err ? err : 1;
	}
	err = place_stat_beside(path, "-wal", &st);
	return err == -ENOENT ? 0 : err ? err : st.st_size != 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return file_same(a, b) && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Whether a write from now on would get the same time. */
static bool is_fresh(const struct stat *st)
{
	const uint64_t changed_ns = time_to_ns(&st->st_ctim);
	const uint64_t now_ns = time_real_ns();

	return changed_ns <= now_ns && now_ns - changed_ns < STEP_NS;
}

int unlocked_note(const char *path, struct stat *noted)
{
	static const struct timespec step = { .tv_nsec = STEP_NS };
	struct stat st;
	int err;

	for (unsigned int i = 0; i < TRIES; i++) {
		if (stat(path, &st) < 0)
			return -errno;
		if (!is_fresh(&st)) {
			err = look_beside(path);
			if (!err)
				*noted = st;
			return err == 1 ? -EACCES : err;
		}
		nanosleep(&step, NULL);
	}
	return -EACCES; /* somebody writes it all the time */
}

int unlocked_check(const char *path, const struct stat *noted)
{
	struct stat st;
	int err = look_beside(path);

	if (err)
		return err == 1 ? -EAGAIN : err;
	if (stat(path, &st) < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	return is_same(&st, noted) ? 0 : -EAGAIN;
}
