/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_help.c - shows the help of a command, or writes the shell's completion
 *
 * Both are made from the command records, so they cannot disagree with the parser. The
 * shell asks here for the epochs, images and procedures that a database has.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/profile/prof.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/help.h"

#define MAX_VALUES 500 /* of one kind; the newest or the busiest first */

/* In the order of --values' words. */
enum values { VALUES_NONE, VALUES_EPOCHS, VALUES_IMAGES, VALUES_PROCEDURES };

struct options {
	struct view_options view;
	bool completion;
	int values; /* enum values */
};

/*
 * Leaves out a value that is not safe to show, because it is not safe to type either.
 */
static void put_value(const char *value)
{
	if (value && *value && text_is_clean(value))
		puts(value);
}

static void put_mark(const char *text)
{
	if (*text && text_is_clean(text))
		printf("mark:%s\n", text);
}

static int print_epochs(const struct select_request *req)
{
	struct query_marks marks = { 0 };
	struct selection sel;
	int err = select_open_epochs(req, "all", SELECT_EPOCHS, &sel);

	if (err)
		return err;
	puts("last\nall\ntoday\nyesterday");
	for (size_t i = sel.epochs.nr, n = 0; i-- > 0 && n < MAX_VALUES; n++) {
		put_value(sel.epochs.epoch[i].label);
		printf("%" PRId64 "\n", sel.epochs.epoch[i].id);
	}
	if (!query_marks(sel.db, &marks)) {
		for (size_t i = marks.nr, n = 0; i-- > 0 && n < MAX_VALUES; n++)
			put_mark(marks.mark[i].text);
	}
	query_marks_fini(&marks);
	select_close(&sel);
	return 0;
}

static int print_names(const struct select_request *req, bool images)
{
	struct prof_request ask = { .select = *req,
				    .by = images ? BY_IMAGE : BY_PROCEDURE };
	struct prof p;
	int err;

	ask.select.as_stored = true; /* a key pressed by chance costs no flush */
	err = prof_open(&ask, &p);
	if (err)
		return err;
	for (size_t i = 0, n = 0; i < p.nr_rows && n < MAX_VALUES; i++) {
		const struct prof_row *row = p.row[i];

		if (row->kind != ROW_PROFILE)
			continue;
		put_value(images ? row->image_name : row->procedure);
		n++;
	}
	prof_close(&p);
	return 0;
}

static int print_values(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct select_request *req = &o->view.select;

	if (o->values == VALUES_EPOCHS)
		return cmd_exit_status(ctx->cmd, print_epochs(req));
	return cmd_exit_status(ctx->cmd, print_names(req, o->values == VALUES_IMAGES));
}

static int run_help(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct cmd *cmd;

	if (o->completion) {
		help_print_completion();
		return EXIT_OK;
	}
	if (o->values)
		return print_values(ctx);
	if (!ctx->nr_args) {
		help_print_overview();
		return EXIT_OK;
	}
	cmd = cmd_find_or_suggest(ctx->args[0]);
	if (!cmd)
		return EXIT_USAGE;
	help_print_command(cmd);
	return EXIT_OK;
}

static const struct opt opts[] = {
	OPT("completion", 0, NULL, "print the completion script for bash", OPT_FLAG,
	    completion),
	OPT("values", 0, "none|epochs|images|procedures",
	    "print what a database has of these, for the completion", OPT_CHOICE,
	    values),
	OPT_DB,
	OPT_EPOCH,
	OPT_END,
};

const struct cmd cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "What the commands do, and their options",
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_help,
};
