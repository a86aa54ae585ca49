/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A unit's .dwo part is looked for in the package beside the program (.dwp) first, then
 * at the path that the skeleton names, then beside the program. Each unit is looked for
 * once. All .dwo files together take at most MAX_BYTES.
 */
#include "config.h"

#include "analysis/image/splitset.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/path.h"

#define MAX_BYTES (512u << 20)

struct splitset_entry {
	struct splitfile file; /* its .dwo; { 0 } when it came from the package */
	struct splitunit *unit;
	bool looked;
};

struct splitset {
	const struct elfview *main;
	char *path; /* of the program, or NULL */
	struct splitfile package;
	bool has_package;
	size_t left; /* bytes that .dwo files may still take */
	size_t nr;
	struct splitset_entry entry[];
};

static bool open_package(struct splitset *s, size_t cut)
{
	struct buf path = { 0 };
	int err;

	buf_put(&path, s->path, strlen(s->path) - cut);
	buf_puts(&path, ".dwp");
	err = path.err ? path.err : splitfile_open_package(buf_str(&path), &s->package);
	buf_fini(&path);
	if (err)
		splitfile_close(&s->package);
	return !err;
}

/* PROGRAM.dwp, also of PROGRAM.debug. */
static bool find_package(struct splitset *s)
{
	static const char suffix[] = ".debug";
	const size_t cut = sizeof(suffix) - 1;
	const size_t len = s->path ? strlen(s->path) : 0;

	if (!len)
		return false;
	if (open_package(s, 0))
		return true;
	return len > cut && strcmp(s->path + len - cut, suffix) == 0 &&
	       open_package(s, cut);
}

struct splitset *splitset_new(const struct elfview *main, size_t nr_units)
{
	struct splitset *s = calloc(1, sizeof(*s) + nr_units * sizeof(s->entry[0]));

	if (!s)
		return NULL;
	s->main = main;
	s->nr = nr_units;
	s->left = MAX_BYTES;
	s->path = elffile_path(main->file);
	s->has_package = find_package(s);
	return s;
}

void splitset_free(struct splitset *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++) {
		splitunit_close(s->entry[i].unit);
		splitfile_close(&s->entry[i].file);
	}
	if (s->has_package)
		splitfile_close(&s->package);
	free(s->path);
	free(s);
}

bool splitset_has(const struct splitset *s, uint32_t unit, struct splitunit **out)
{
	*out = s->entry[unit].unit;
	return s->entry[unit].looked;
}

static bool open_unit(struct splitset *s, struct splitset_entry *e,
		      const struct splitfile *from, const struct skeleton *skeleton)
{
	struct split_piece pieces[SPLIT_NR];

	return splitfile_find(from, skeleton->id, pieces) == 0 &&
	       splitunit_open(skeleton, pieces, s->main, &e->unit) == 0;
}

/* Bytes that an open .dwo needs, unpacked. */
static uint64_t memory_of(const struct splitfile *dwo)
{
	return dwo->file->size + dwo->view.memory;
}

static bool try_file(struct splitset *s, struct splitset_entry *e,
		     const char *directory, const char *name,
		     const struct skeleton *skeleton)
{
	if (splitfile_open(directory, name, s->left, &e->file) == 0 &&
	    memory_of(&e->file) <= s->left && open_unit(s, e, &e->file, skeleton)) {
		s->left -= memory_of(&e->file);
		return true;
	}
	splitfile_close(&e->file);
	return false;
}

static void try_beside(struct splitset *s, struct splitset_entry *e,
		       const struct skeleton *skeleton)
{
	char *directory = s->path ? strdup(s->path) : NULL;

	if (directory) {
		*strrchr(directory, '/') = '\0';
		try_file(s, e, directory, path_base(skeleton->name), skeleton);
	}
	free(directory);
}

struct splitunit *splitset_find(struct splitset *s, uint32_t unit,
				const struct skeleton *skeleton)
{
	struct splitset_entry *e = &s->entry[unit];

	e->looked = true;
	if (s->has_package && open_unit(s, e, &s->package, skeleton))
		return e->unit;
	if (!try_file(s, e, skeleton->directory, skeleton->name, skeleton))
		try_beside(s, e, skeleton);
	return e->unit;
}
