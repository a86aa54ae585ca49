/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagetrail.c - paths of debug files, with the states of the files
 *
 *	{ state, size of the path, whether links are followed }, the path
 */
#include "config.h"

#include "report/select/imagetrail.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

struct trail_file {
	struct file_stamp state; /* all 0: nothing is there */
	uint32_t size;           /* of the path, with the NUL */
	uint32_t follow;
};

void image_trail_fini(struct image_trail *t)
{
	buf_fini(&t->files);
	buf_fini(&t->failures);
}

static struct file_stamp state_of(const char *path, bool follow)
{
	struct stat st;

	if ((follow ? stat : lstat)(path, &st))
		return (struct file_stamp){ 0 };
	return file_stamp_of(&st);
}

void image_trail_look(void *trail, const char *path, bool follow)
{
	struct image_trail *t = trail;
	const struct trail_file f = { state_of(path, follow),
				      (uint32_t)strlen(path) + 1, follow };

	buf_put(&t->files, &f, sizeof(f));
	buf_put(&t->files, path, f.size);
}

void image_trail_fail(struct image_trail *t, const char *name, const char *why)
{
	buf_put(&t->failures, name, strlen(name) + 1);
	buf_put(&t->failures, why, strlen(why) + 1);
}

bool image_trail_is_current(const char *files, size_t size)
{
	const char *at = files, *end = files + size;

	while (at < end) {
		struct file_stamp now;
		struct trail_file f;

		if ((size_t)(end - at) < sizeof(f))
			return false;
		memcpy(&f, at, sizeof(f));
		at += sizeof(f);
		if (!f.size || f.size > (size_t)(end - at) || at[f.size - 1])
			return false;
		now = state_of(at, f.follow);
		if (memcmp(&now, &f.state, sizeof(now)) != 0)
			return false;
		at += f.size;
	}
	return true;
}

/* A string at *at; NULL if it does not end before end. */
static const char *next_string(const char **at, const char *end)
{
	const char *s = *at, *nul = memchr(s, '\0', (size_t)(end - s));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

bool image_trail_next(const char **at, const char *end, const char **name,
		      const char **why)
{
	if (*at >= end)
		return false;
	*name = next_string(at, end);
	*why = *name ? next_string(at, end) : NULL;
	return *why;
}
