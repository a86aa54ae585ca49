/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_list.c - one procedure with its samples (dcpilist)
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "tools/explaining.h"

/* Whether the text of a source line is at hand. */
static bool has_source(struct listing *l)
{
	for (size_t i = 0; i < l->nr_insns; i++) {
		const struct line *line = &l->insn[i].line;

		if (line->file && sources_line(l->sources, line->file, line->line))
			return true;
	}
	return false;
}

static int print(struct listing *l)
{
	const struct cmd_options *opt = &l->ctx->opt;

	if (opt->source)
		return list_print_source(l);
	if (opt->assembly)
		return list_print_assembly(l, false);
	return list_print_assembly(l, opt->both || has_source(l));
}

int list_prepare(struct listing *l)
{
	int err;

	err = events_init(&l->ev, &l->sel.streams, select_newest(&l->sel)->clock_hz);
	if (err) {
		select_failed(l->ctx, &l->sel, err);
		return err;
	}
	err = time_source_open(&l->source, l->ctx, &l->sel, &l->ev);
	if (err)
		return err;
	l->images = image_cache_new(l->sel.db, machine_of(select_newest(&l->sel)->arch),
				    false);
	l->sources = sources_new();
	if (!l->images || !l->sources)
		return -ENOMEM;
	return image_cache_search(l->images, l->ctx->opt.debug_dir,
				  l->ctx->opt.debuginfod);
}

static void free_places(struct listing *l)
{
	struct list_place *p, *next;

	for (p = l->places; p; p = next) {
		next = p->next;
		free((char *)p->image.desc.name);
		free(p->name);
		buf_fini(&p->samples);
		free(p);
	}
}

void list_fini(struct listing *l)
{
	for (size_t i = 0; i < l->nr_insns; i++)
		free(l->insn[i].text);
	free(l->insn);
	free(l->tally);
	free_places(l);
	sources_free(l->sources);
	image_cache_free(l->images);
	time_source_close(&l->source);
	events_fini(&l->ev);
	select_close(&l->sel);
}

/* How often each instruction ran is said where it can be. */
static int list(struct explainer *x)
{
	const struct explanation *ex;
	struct listing *l = x->l;
	int err = list_find(l, l->ctx->args[0]);

	if (!err && x->event < l->ev.nr)
		err = explainer_place(x, &ex);
	if (!err && x->event < l->ev.nr)
		l->explained = ex->e;
	if (!err)
		err = list_decode(l);
	if (!err)
		sources_ask(l->sources, image_cache_remote(l->images),
			    &l->place->image.desc);
	return err ? err : print(l);
}

static int run(struct cmd_context *ctx)
{
	if (ctx->opt.source + ctx->opt.assembly + ctx->opt.both > 1)
		return cmd_usage_error(ctx->cmd, "say one of --source, --asm, --both");
	return explainer_run(ctx, list);
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT("source", 's', NULL, "source lines alone", OPT_FLAG, source),
	OPT("asm", 'a', NULL, "assembly alone", OPT_FLAG, assembly),
	OPT("both", 'b', NULL, "both (default, where there is source)", OPT_FLAG, both),
	OPT("inlines", 'i', NULL, "show what was inlined where it changes", OPT_FLAG,
	    inlines),
	OPT_ATTRIBUTION,
	OPTS_DEBUG_FILES,
	OPTS_EXPLAIN,
	OPT_FORMAT,
	OPT_COLOR,
	OPT_END,
};

const struct cmd cmd_list = {
	.name = "list",
	.args = "[IMAGE:]PROC | 0xOFFSET",
	.summary = "The source and assembly of a procedure, with its samples",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.run = run,
};
