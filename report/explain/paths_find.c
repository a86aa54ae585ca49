/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths_find.c - counts the paths through a procedure, and names their callers
 *
 * Windows give the paths (analysis/windows). A caller may be in any image, so its name
 * is looked up here, in one open image at a time.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "report/explain/explainer_private.h"
#include "report/explain/paths.h"

/* Names the caller of a path, as its procedure and offset. */
static int name_caller(struct paths_report *r, struct explainer *x, size_t i)
{
	const struct pathwalk_caller *from = &r->count.path[i].caller;
	const struct query_image *row =
		selected_windows_numbered(x->windows, from->image);
	const struct symbol *s = NULL;
	struct image *im;
	struct buf name = { 0 };

	r->caller_image[i] = strdup(row->desc.name);
	if (!image_cache_get(x->scope->images, row, &im))
		s = image_symbol_at(im, from->offset);
	if (s)
		buf_printf(&name, "%s+0x%" PRIx64, s->name, from->offset - s->start);
	else
		buf_printf(&name, "0x%" PRIx64, from->offset);
	r->caller[i] = strdup(buf_str(&name));
	buf_fini(&name);
	return r->caller_image[i] && r->caller[i] ? 0 : -ENOMEM;
}

static int name_callers(struct paths_report *r, struct explainer *x)
{
	int err = 0;

	r->caller = calloc(r->nr + 1, sizeof(*r->caller));
	r->caller_image = calloc(r->nr + 1, sizeof(*r->caller_image));
	if (!r->caller || !r->caller_image)
		return -ENOMEM;
	for (size_t i = 0; !err && i < r->nr; i++) {
		if (r->count.path[i].caller.known)
			err = name_caller(r, x, i);
	}
	return err ? err : image_cache_get(x->scope->images, &r->place->image, &r->im);
}

static int count_paths(struct paths_report *r, struct explainer *x)
{
	const struct explain_windows *windows;
	int err;

	err = selected_windows_image(x->windows, r->place->image.id, &windows);
	if (!err && windows)
		err = pathcount_find(r->cfg, windows->weights, windows->image,
				     &x->arena, &r->count);
	if (!err && !r->count.windows) {
		log_err("%s: no window came to its entry, or to a loop in it: record "
			"for longer, or more of them with -w",
			r->place->name);
		err = -CPI_EEMPTY;
	}
	return err;
}

void paths_fini(struct paths_report *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		if (r->caller)
			free(r->caller[i]);
		if (r->caller_image)
			free(r->caller_image[i]);
	}
	free(r->caller);
	free(r->caller_image);
}

int paths_find(struct explainer *x, const struct found_place *place, size_t limit,
	       struct paths_report *r)
{
	const struct explanation *ex;
	int err;

	*r = (struct paths_report){ .scope = x->scope, .place = place };
	err = explainer_require_windows(x, place, &ex);
	if (err)
		return err;
	r->cfg = ex->e->cfg;
	err = count_paths(r, x);
	if (err)
		return err;
	r->nr = r->count.nr_paths < limit ? r->count.nr_paths : limit;
	return name_callers(r, x);
}
