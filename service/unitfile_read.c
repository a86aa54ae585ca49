/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unitfile_read.c - reads a file of settings, and the files that add to it
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "service/unitfile.h"

#define MAX_FILES 64 /* in FILE.d */

struct unitfile_source {
	const struct unitfile_reader *reader;
	const char *file;
};

static int take_setting(void *ctx, const struct unitfile_setting *s)
{
	const struct unitfile_source *reading = ctx;

	return reading->reader->setting(reading->reader->ctx, reading->file, s);
}

static int read_file(const struct unitfile_reader *r, const char *path, bool may_miss)
{
	struct unitfile_source reading = { .reader = r, .file = path };
	struct unitfile_error error = { .text = NULL };
	struct buf text = { 0 };
	int err = file_read_all(AT_FDCWD, path, UNITFILE_MAX_BYTES, &text);

	if (err == -ENOENT && may_miss)
		err = 0;
	else if (err)
		fprintf(stderr, "%s: %s: cannot read it: %s\n", r->program, path,
			err_str(err));
	else
		err = unitfile_parse(buf_str(&text), text.len, r->section, take_setting,
				     &reading, &error);
	if (error.text)
		fprintf(stderr, "%s: %s:%u:%u: %s%s%s%s\n", r->program, path,
			error.at.line, error.at.column, error.text,
			error.wants_section ? " [" : "",
			error.wants_section ? r->section : "",
			error.wants_section ? "]" : "");
	buf_fini(&text);
	return err;
}

static int is_conf(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return e->d_name[0] != '.' && len > 5 && !strcmp(e->d_name + len - 5, ".conf");
}

/* Like systemd's, not sorted by the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_folder(const struct unitfile_reader *r, const char *path)
{
	char folder[PATH_MAX], file[PATH_MAX + 256];
	struct dirent **found;
	int nr, err = 0;

	if (snprintf(folder, sizeof(folder), "%s.d", path) >= (int)sizeof(folder)) {
		fprintf(stderr, "%s: %s: the name is too long\n", r->program, path);
		return -ENAMETOOLONG;
	}
	nr = scandir(folder, &found, is_conf, by_name);
	if (nr < 0 && errno != ENOENT && errno != ENOTDIR) {
		err = -errno;
		fprintf(stderr, "%s: %s: cannot read it: %s\n", r->program, folder,
			err_str(err));
		return err;
	}
	if (nr > MAX_FILES) {
		fprintf(stderr, "%s: %s: it has more than %d files\n", r->program,
			folder, MAX_FILES);
		err = -E2BIG;
	}
	for (int i = 0; i < nr; i++) {
		snprintf(file, sizeof(file), "%s/%s", folder, found[i]->d_name);
		if (!err)
			err = read_file(r, file, false);
		free(found[i]);
	}
	if (nr >= 0)
		free(found);
	return err;
}

int unitfile_read(const struct unitfile_reader *reader, const char *path, bool may_miss)
{
	int err = read_file(reader, path, may_miss);

	return err ? err : read_folder(reader, path);
}
