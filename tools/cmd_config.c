/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_config.c - the options that a running cpid has, and where each was set
 *
 * The daemon's status has two lines for each option: "option_NAME VALUE" and
 * "option_NAME_from WHERE".
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "report/select/client.h"
#include "tools/commands.h"
#include "tools/ctl.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"

#define PREFIX "option_"
#define SUFFIX "_from"

struct options {
	struct out_options out;
	const char *socket;
};

static bool ends_in(const char *name, const char *end)
{
	const size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && !strcmp(name + len - end_len, end);
}

static void put_line(void *ctx, const char *name, const char *value)
{
	struct table *t = ctx;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return;
	if (!ends_in(name, SUFFIX))
		table_text(t, name + strlen(PREFIX));
	table_text(t, value);
}

static int print_options(const struct options *o, const char *status)
{
	static const struct column columns[] = {
		{ "option", "option", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "value", "value", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "set in", "from", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	client_each_line(status, put_line, t);
	err = table_print(t, o->out.format, "options", false);
	table_free(t);
	return err;
}

static int run_config(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct buf status = { 0 };
	int err;

	err = client_call(o->socket, CPI_CONTROL_STATUS, "", CLIENT_PATIENCE_NS,
			  &status);
	if (client_is_absent(err))
		log_err("%s: no cpid listens there; 'cpid --check-config' shows what "
			"one "
			"would use",
			client_socket(o->socket));
	else if (err)
		log_err("%s: %s", client_socket(o->socket),
			status.len ? buf_str(&status) : err_str(err));
	else
		err = print_options(o, buf_str(&status));
	buf_fini(&status);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = { OPT_FORMAT, OPT_SOCKET, OPT_END };

const struct cmd cmd_config = {
	.name = "config",
	.args = "",
	.summary = "The options that cpid has, and where each was set",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_config,
};
