/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.c - reads each source file once, and splits it into lines
 *
 * The paths come from debug information, so they may name any file. Files are often
 * missing, so a message is logged only if a file exists and cannot be read.
 */
#include "config.h"

#include "report/select/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

#define MAX_FILE_BYTES  (16u << 20)
#define MAX_FILES       256
#define TAB_STOP        8
#define LINE_MAX_BLANKS 400
#define NOBODYS         ((uid_t)-1) /* owner of no file */

struct source_file {
	char *path;
	struct buf text;  /* each line ends with a NUL */
	struct buf lines; /* size_t: where each begins */
	struct source_file *next;
};

struct sources {
	struct source_file *first;
	int nr;
	bool are_off;          /* no file is read */
	bool are_public;       /* only files that everybody may read */
	struct remote *remote; /* NULL: only local files */
	const struct image_desc *image;
};

struct sources *sources_new(void)
{
	struct sources *s = calloc(1, sizeof(*s));
	const char *off = getenv("CPI_NO_SOURCE");

	if (s && off) {
		s->are_public = !strcmp(off, "private");
		s->are_off = *off && !s->are_public;
	}
	return s;
}

static void file_free(struct source_file *f)
{
	free(f->path);
	buf_fini(&f->text);
	buf_fini(&f->lines);
	free(f);
}

void sources_free(struct sources *s)
{
	struct source_file *f, *next;

	if (!s)
		return;
	for (f = s->first; f; f = next) {
		next = f->next;
		file_free(f);
	}
	free(s);
}

static void put_char(struct buf *b, char c, size_t line)
{
	size_t column = b->len - line;

	if (c != '\t') {
		buf_putc(b, c);
		return;
	}
	do
		buf_putc(b, ' ');
	while (++column % TAB_STOP && column < LINE_MAX_BLANKS);
}

static void cut_lines(struct source_file *f, const char *data, size_t size)
{
	size_t line = 0;

	for (size_t i = 0; i < size; i++) {
		if (f->text.len == line && (i == 0 || data[i - 1] == '\n'))
			buf_put(&f->lines, &line, sizeof(line));
		if (data[i] == '\n') {
			buf_putc(&f->text, '\0');
			line = f->text.len;
		} else if (data[i] && data[i] != '\r') {
			put_char(&f->text, data[i], line);
		}
	}
	buf_putc(&f->text, '\0');
}

void sources_ask(struct sources *s, struct remote *remote,
		 const struct image_desc *image)
{
	s->remote = remote;
	s->image = image;
}

/*
 * Symbolic links are followed, because many source trees consist of them. Returns a
 * descriptor or -errno.
 */
static int open_local(const struct sources *s, const char *path)
{
	char *real = realpath(path, NULL);
	int fd;

	if (!real)
		return -errno;
	if (s->are_public) {
		fd = file_open_as(real, NOBODYS);
		if (fd >= 0)
			fd = file_keep_regular(fd, NULL);
	} else {
		fd = file_open_regular(AT_FDCWD, real, NULL);
	}
	free(real);
	return fd;
}

/* Returns a descriptor, or why the file cannot be opened here. */
static int open_file(const struct sources *s, const char *path)
{
	int fd = open_local(s, path), remote_fd = -ENOENT;

	if (fd < 0 && s->remote)
		remote_fd = remote_source(s->remote, s->image->build_id,
					  s->image->build_id_size, path);
	return remote_fd >= 0 ? remote_fd : fd;
}

/* Reads the lines of the open file. Returns 0 or -errno; then there are no lines. */
static int read_lines(struct source_file *f, int fd)
{
	struct buf data = { 0 };
	struct stat st;
	int err = 0;

	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (st.st_size > MAX_FILE_BYTES)
		err = -EFBIG;
	else if (st.st_size > 0 && !buf_reserve(&data, st.st_size))
		err = -ENOMEM;
	else if (st.st_size > 0)
		err = file_pread(fd, data.data, st.st_size, 0);
	if (!err && st.st_size > 0)
		cut_lines(f, data.data, st.st_size);
	if (f->text.err || f->lines.err) {
		buf_reset(&f->lines);
		err = -ENOMEM;
	}
	buf_fini(&data);
	return err;
}

static void read_file(const struct sources *s, struct source_file *f)
{
	int fd, err;

	if (s->are_off) {
		if (!s->nr)
			log_warn("source: files are not read (CPI_NO_SOURCE)");
		return;
	}
	fd = open_file(s, f->path);
	err = fd < 0 ? fd : read_lines(f, fd);
	if (fd >= 0)
		close(fd);
	if (err && err != -ENOENT && err != -ENOTDIR)
		log_warn("source: %s: %s: its lines are not shown", f->path,
			 err == -ENODEV                    ? "not a regular file"
			 : err == -EACCES && s->are_public ? "not everybody may read it"
							   : err_str(err));
}

static struct source_file *find_file(struct sources *s, const char *path)
{
	struct source_file *f;

	for (f = s->first; f; f = f->next) {
		if (!strcmp(f->path, path))
			return f;
	}
	if (s->nr == MAX_FILES)
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->path = strdup(path);
	if (!f->path) {
		free(f);
		return NULL;
	}
	read_file(s, f);
	f->next = s->first;
	s->first = f;
	s->nr++;
	return f;
}

const char *sources_line(struct sources *s, const char *path, int nr)
{
	const struct source_file *f = find_file(s, path);
	size_t at;

	if (!f || nr < 1 || (size_t)nr > f->lines.len / sizeof(at))
		return NULL;
	memcpy(&at, f->lines.data + (nr - 1) * sizeof(at), sizeof(at));
	return f->text.data + at;
}
