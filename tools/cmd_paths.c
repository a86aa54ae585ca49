/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_paths.c - the most frequent paths through a procedure, as windows saw them
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/paths.h"

#define DEFAULT_ROWS 20

/* Where in its procedure a call is; its image is open until the next one. */
static int name_caller(struct paths_report *r, const struct explainer *x, size_t i)
{
	const struct pathwalk_caller *from = &r->count.path[i].caller;
	const struct query_image *row = following_numbered(x->following, from->image);
	const struct symbol *s = NULL;
	struct image *im;
	struct buf name = { 0 };

	r->caller_image[i] = strdup(row->desc.name);
	if (!image_cache_get(x->l->images, row, &im))
		s = image_symbol_at(im, from->offset);
	if (s)
		buf_printf(&name, "%s+0x%" PRIx64, s->name, from->offset - s->start);
	else
		buf_printf(&name, "0x%" PRIx64, from->offset);
	r->caller[i] = strdup(buf_str(&name));
	buf_fini(&name);
	return r->caller_image[i] && r->caller[i] ? 0 : -ENOMEM;
}

static int name_callers(struct paths_report *r, const struct explainer *x)
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
	return err ? err : image_cache_get(x->l->images, &x->l->place->image, &r->im);
}

static int count(struct paths_report *r, struct explainer *x)
{
	const struct list_place *place = x->l->place;
	const struct explain_windows *windows;
	int err;

	if (!x->following) {
		log_err("%s: there are no windows in the selection: record some with "
			"'cpi record -w HZ', or have 'cpid --windows HZ' take them",
			db_path(x->l->sel.db));
		return -CPI_EEMPTY;
	}
	err = following_image(x->following, place->image.id, &windows);
	if (!err && windows)
		err = pathcount_find(r->cfg, windows->followed, windows->image,
				     &x->arena, &r->count);
	if (!err && !r->count.windows) {
		log_err("%s: no window came to its entry, or to a loop in it: record "
			"for longer, or more of them with -w",
			place->name);
		err = -CPI_EEMPTY;
	}
	return err;
}

static void choose_rows(struct paths_report *r)
{
	const struct cmd_options *opt = &r->l->ctx->opt;
	const size_t limit = opt->limit                ? opt->limit
			     : opt->format == OUT_TEXT ? DEFAULT_ROWS
						       : SIZE_MAX;

	r->nr = r->count.nr_paths < limit ? r->count.nr_paths : limit;
}

static void fini(struct paths_report *r)
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

static int show(struct explainer *x)
{
	struct paths_report r = { .l = x->l };
	const struct explanation *ex;
	int err = list_find(x->l, x->l->ctx->args[0]);

	if (!err)
		err = explainer_require(x, &ex);
	if (err)
		return err;
	r.cfg = ex->e->cfg;
	err = count(&r, x);
	if (!err) {
		choose_rows(&r);
		err = name_callers(&r, x);
	}
	if (!err)
		err = paths_print(&r);
	fini(&r);
	return err;
}

static int run(struct cmd_context *ctx)
{
	return explainer_run(ctx, show);
}

static const struct opt opts[] = {
	OPTS_SELECTION, OPTS_DEBUG_FILES, OPT_LIMIT, OPT_FORMAT, OPT_COLOR, OPT_END,
};

const struct cmd cmd_paths = {
	.name = "paths",
	.args = "[IMAGE:]PROC | 0xOFFSET",
	.summary = "The paths through a procedure that are taken most",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.run = run,
};
