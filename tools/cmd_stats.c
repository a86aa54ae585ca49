/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_stats.c - how much does it differ from run to run? (dcpistats)
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/pager.h"
#include "tools/write/compare.h"

#define MAX_ARGS 10000

struct options {
	struct out_options out;
	struct stats_request stats;
};

static int put_ids(const struct select_request *req, const char *spec, struct buf *ids)
{
	char id[SELECT_ID_SIZE];
	struct selection sel;
	int err = select_open_epochs(req, spec, SELECT_EPOCHS, &sel);

	if (err)
		return err;
	for (size_t i = 0; i < sel.epochs.nr; i++)
		buf_printf(ids, "%s%s", ids->len ? "," : "",
			   select_epoch_id(&sel, &sel.epochs.epoch[i], id));
	select_close(&sel);
	return ids->err;
}

/*
 * Joins the epochs that nr args name into one --epoch, which the caller frees. Errors
 * are logged. Returns 0 or a negative error.
 */
static int join(const struct select_request *req, char *const *args, int nr, char **out)
{
	struct buf ids = { 0 };
	char *joined = NULL;
	int err = 0;

	for (int i = 0; nr > 1 && i < nr && !err; i++)
		err = put_ids(req, args[i], &ids);
	if (!err)
		joined = strdup(nr > 1 ? buf_str(&ids) : args[0]);
	if (!err && !joined)
		err = -ENOMEM;
	if (!err)
		*out = joined;
	buf_fini(&ids);
	return err;
}

static int run_stats(struct cmd_context *ctx)
{
	struct options *o = ctx->opt;
	struct select_request *select = &o->stats.select;
	struct pager pager;
	struct stats s;
	char *spec = NULL;
	int err;

	if (ctx->nr_args && select->epoch)
		return cmd_usage_error(ctx->cmd, "epochs are named twice");
	if (ctx->nr_args && join(select, ctx->args, ctx->nr_args, &spec))
		return EXIT_FAIL;
	if (spec || !select->epoch)
		select->epoch = spec ? spec : "all";
	o->stats.sort = o->out.sort;
	err = stats_open(&o->stats, &s);
	if (!err) {
		pager_begin(&pager, &o->out);
		err = stats_print(&s, &o->out);
		pager_end(&pager);
		stats_close(&s);
		if (err)
			log_err("stats: %s", err_str(err));
	}
	free(spec);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_REPORT,
	OPT("by", 0,
	    "procedure|image|comm|line|cgroup|container|unit|label|process|thread|"
	    "category",
	    "what a row stands for", OPT_CHOICE, stats.by),
	OPT("normalize", 0, "none|time|total", "values as they are, per second, or %",
	    OPT_CHOICE, stats.normalize),
	OPT("fdr", 0, "RATE", "accepted share of false marks (default: 0.05)", OPT_REAL,
	    stats.fdr),
	OPT_LIMIT,
	OPT_SORT("range, sum, mean, std-dev, min, max or excess"),
	OPT_FORMAT,
	OPT_NO_PAGER,
	OPT_END,
};

const struct cmd cmd_stats = {
	.name = "stats",
	.args = "[EPOCH...]",
	.summary = "How much rows vary from epoch to epoch, beyond chance",
	.max_args = MAX_ARGS,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_stats,
};
