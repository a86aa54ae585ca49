/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile_sources.c - checks that source files are those the program was
 * compiled from
 *
 * If the debug information has checksums of the files, they are compared. Otherwise a
 * file is wrong if it ends before the first line of a function that ran; other lines of
 * the function are not checked, because they may be from included files. A missing file
 * is not checked.
 */
#include "config.h"

#include <errno.h>
#include <nettle/md5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/log.h"
#include "report/feedback/compiler_profile.h"

#define MAX_FILES 10000
#define MAX_SIZE  (16u << 20) /* of a source file */
#define MAX_NAMED 5

struct file {
	const char *name; /* belongs to the tree */
	int last;         /* line where the last function that ran begins */
	bool checked, stale;
};

struct files {
	struct file *file; /* by name, once gathered */
	size_t nr;
};

static int add_function(struct files *s, const struct feedback_function *fn)
{
	bool ran = false;
	int err = 0;

	for (const struct feedback_line *l = fn->lines; l && !ran; l = l->next)
		ran = l->n > 0;
	if (ran && fn->file) {
		if (GROW(s->file, s->nr))
			return -ENOMEM;
		s->file[s->nr++] = (struct file){ .name = fn->file, .last = fn->start };
	}
	for (const struct feedback_function *c = fn->inlined; c && !err; c = c->next)
		err = add_function(s, c);
	return err;
}

static int by_name(const void *va, const void *vb)
{
	const struct file *a = va, *b = vb;

	return strcmp(a->name, b->name);
}

static void unite(struct files *s)
{
	size_t nr = 0;

	if (s->nr)
		qsort(s->file, s->nr, sizeof(*s->file), by_name);
	for (size_t i = 0; i < s->nr; i++) {
		if (!nr || by_name(&s->file[nr - 1], &s->file[i]))
			s->file[nr++] = s->file[i];
		else if (s->file[i].last > s->file[nr - 1].last)
			s->file[nr - 1].last = s->file[i].last;
	}
	s->nr = nr < MAX_FILES ? nr : MAX_FILES;
}

/* Reads a regular file; false: it cannot be read. */
static bool read_source(const char *name, struct buf *out)
{
	struct stat st;
	const int fd = file_open_regular(AT_FDCWD, name, &st);
	char *to;
	bool ok;

	if (fd < 0)
		return false;
	to = st.st_size <= MAX_SIZE ? buf_reserve(out, (size_t)st.st_size + 1) : NULL;
	ok = to && file_pread(fd, to, (size_t)st.st_size, 0) == 0;
	out->len = ok ? (size_t)st.st_size : 0;
	close(fd);
	return ok;
}

static int on_sum(void *ctx, const char *name, const uint8_t sum[IMAGE_SUM_SIZE])
{
	const struct files *s = ctx;
	const struct file key = { .name = name };
	struct file *file = bsearch(&key, s->file, s->nr, sizeof(key), by_name);
	struct buf text = { 0 };
	uint8_t got[MD5_DIGEST_SIZE];
	struct md5_ctx md5;

	if (!file || file->checked)
		return 0;
	if (read_source(name, &text)) {
		md5_init(&md5);
		md5_update(&md5, text.len, (const uint8_t *)buf_str(&text));
		md5_digest(&md5, sizeof(got), got);
		file->checked = true;
		file->stale = memcmp(got, sum, sizeof(got)) != 0;
	}
	buf_fini(&text);
	return 0;
}

static void count_lines(struct file *file)
{
	struct buf text = { 0 };
	int nr = 1;

	if (read_source(file->name, &text)) {
		for (size_t i = 0; i + 1 < text.len; i++)
			nr += text.data[i] == '\n';
		file->stale = file->last > nr;
	}
	buf_fini(&text);
}

static void say_stale(const struct files *s, const char *program)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->file[i].stale && nr++ < MAX_NAMED)
			log_warn("%s: %s is not what it was compiled from: counts may "
				 "be at the wrong lines",
				 program, s->file[i].name);
	}
	if (nr > MAX_NAMED)
		log_warn("%s: and %zu more sources", program, nr - MAX_NAMED);
}

void compiler_profile_warn_sources(const struct compiler_profile *f)
{
	const struct compiler_profile_build *b = f->build;
	struct files s = { .file = NULL };
	struct image *im;
	int err = 0;

	if (f->nr_builds > 1 || f->to)
		return;
	for (const struct feedback_function *fn = *feedback_list(b->tree); fn && !err;
	     fn = fn->next)
		err = add_function(&s, fn);
	unite(&s);
	if (!err && image_cache_get(explainer_scope(f->x)->images, &b->image, &im) == 0)
		image_each_sum(im, on_sum, &s);
	for (size_t i = 0; i < s.nr; i++) {
		if (!s.file[i].checked)
			count_lines(&s.file[i]);
	}
	say_stale(&s, b->image.desc.name);
	free(s.file);
}
