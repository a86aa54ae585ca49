/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_find.c - finds the frames that [IMAGE:]PROC selects
 *
 * If several images have a procedure with the name, all of them are selected: a tree
 * can show them together, unlike a listing.
 */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/err.h"
#include "base/log.h"
#include "base/path.h"
#include "report/calls/calls.h"
#include "report/select/procname.h"

/* Matches procedures that have the name, or that match pattern. */
struct procedure_pattern {
	const char *name;
	char *pattern; /* a glob */
	char *image;   /* a glob; NULL: in any image */
};

static bool is_image(const struct frame *f, const char *glob)
{
	return !glob || (f->image && path_matches(glob, f->image));
}

static size_t mark(const struct frames *f, const struct procedure_pattern *w, bool *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++) {
		const struct frame *frame = f->frame[i];

		out[i] = frame->kind != FRAME_COMMAND && is_image(frame, w->image) &&
			 (procname_is(frame->name, w->name) ||
			  !fnmatch(w->pattern, frame->name, 0));
		nr += out[i];
	}
	return nr;
}

static int mark_frames(const struct frames *f, const char *name, const char *image,
		       size_t image_length, bool *out, size_t *nr)
{
	struct procedure_pattern w = { .name = name, .pattern = select_glob(name) };
	char *text = image ? strndup(image, image_length) : NULL;
	int err = 0;

	w.image = text ? select_glob(text) : NULL;
	if (!w.pattern || (image && !w.image))
		err = -ENOMEM;
	else
		*nr = mark(f, &w, out);
	free(text);
	free(w.pattern);
	free(w.image);
	return err;
}

/* Compares with "gzip+0x4290 (stripped)", as reports show frame [0x4290] of gzip. */
static int mark_offset(const struct frames *f, const char *proc, bool *out, size_t *nr)
{
	const char *plus = strstr(proc, "+0x");
	char name[64];

	if (!plus)
		return 0;
	snprintf(name, sizeof(name), "[%.*s]", (int)strcspn(plus + 1, " "), plus + 1);
	return mark_frames(f, name, proc, plus - proc, out, nr);
}

static int failed_none(const struct frames *f, const char *proc)
{
	struct did_you_mean guess = did_you_mean_init(proc);

	for (size_t i = 0; i < f->nr; i++) {
		if (f->frame[i]->kind != FRAME_COMMAND)
			did_you_mean_try(&guess, f->frame[i]->name);
	}
	if (guess.best)
		log_err("%s: in no call stack: did you mean '%s'?", proc, guess.best);
	else
		log_err("%s: in no call stack: 'cpi prof --children' lists the "
			"procedures that are",
			proc);
	return -CPI_ENOSYMBOL;
}

int calls_find(const struct calls *c, const char *proc, bool **out)
{
	const char *colon = procname_image_end(proc);
	bool *wanted = calloc(c->frames->nr + 1, sizeof(*wanted));
	size_t nr = 0;
	int err = wanted ? 0 : -ENOMEM;

	if (!err && colon)
		err = mark_frames(c->frames, colon + 1, proc, colon - proc, wanted,
				  &nr);
	if (!err && !nr)
		err = mark_frames(c->frames, proc, NULL, 0, wanted, &nr);
	if (!err && !nr)
		err = mark_offset(c->frames, proc, wanted, &nr);
	if (!err && !nr)
		err = failed_none(c->frames, proc);
	if (err)
		free(wanted);
	else
		*out = wanted;
	return err;
}
