/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_config.c - the options that running services have, and where each was set
 *
 * Each option is two lines, "option_NAME VALUE" and "option_NAME_from WHERE": in the
 * status of cpid, and in a file that cpi-ship and cpi-web write
 * (service/options_publish.h).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "report/select/client.h"
#include "service/options_publish.h"
#include "tools/commands.h"
#include "tools/ctl.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"

#define PREFIX "option_"
#define SUFFIX "_from"

#define MAX_BYTES (1 << 20)

struct options {
	struct out_options out;
	const char *socket;
};

static bool ends_in(const char *name, const char *end)
{
	const size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && !strcmp(name + len - end_len, end);
}

/* The lines of one service. */
struct lines {
	struct table *table;
	const char *service;
	uint64_t pid; /* 0: they do not say */
};

static void put_line(void *ctx, const char *name, const char *value)
{
	struct lines *l = ctx;

	if (!strcmp(name, "pid") && number_parse(value, 10, &l->pid))
		l->pid = 0;
	if (!l->table || strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return;
	if (!ends_in(name, SUFFIX)) {
		table_text(l->table, l->service);
		table_text(l->table, name + strlen(PREFIX));
	}
	table_text(l->table, value);
}

static void put_lines(struct table *t, const char *service, const char *text)
{
	client_each_line(text, put_line, &(struct lines){ t, service, 0 });
}

/* Whether the process that wrote it still runs; else a file was left behind. */
static bool is_current(const char *text)
{
	struct lines l = { 0 };

	client_each_line(text, put_line, &l);
	return l.pid && l.pid <= INT_MAX && (!kill((pid_t)l.pid, 0) || errno == EPERM);
}

/* 0, -ENOENT if cpid does not run, or another error, logged. */
static int put_cpid(const struct options *o, struct table *t)
{
	struct buf status = { 0 };
	int err = client_call(o->socket, CPI_CONTROL_STATUS, "", CLIENT_PATIENCE_NS,
			      &status);

	if (!err)
		put_lines(t, "cpid", buf_str(&status));
	else if (client_is_absent(err))
		err = -ENOENT;
	else
		log_err("%s: %s", client_socket(o->socket),
			status.len ? buf_str(&status) : err_str(err));
	buf_fini(&status);
	return err;
}

/* The same for a service that publishes them. */
static int put_published(const char *service, struct table *t)
{
	const char *run = getenv("CPI_RUN");
	char path[PATH_MAX];
	struct buf text = { 0 };
	int err;

	snprintf(path, sizeof(path), "%s/%s/" SERVICE_OPTIONS_FILE,
		 run && *run ? run : "/run", service);
	err = file_read_all(AT_FDCWD, path, MAX_BYTES, &text);
	if (!err && !is_current(buf_str(&text)))
		err = -ENOENT;
	if (!err)
		put_lines(t, service, buf_str(&text));
	else if (err != -ENOENT)
		log_err("%s: %s", path, err_str(err));
	buf_fini(&text);
	return err;
}

static int put_all(const struct options *o, struct table *t)
{
	static const char *const published[] = { "cpi-ship", "cpi-web" };
	int err, result = put_cpid(o, t);

	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		err = put_published(published[i], t);
		if (result == -ENOENT || (err && err != -ENOENT))
			result = err;
	}
	if (result == -ENOENT)
		log_err("%s: no cpid listens there, and neither cpi-ship nor cpi-web "
			"runs as a service; 'cpid --check-config' shows what one would "
			"use",
			client_socket(o->socket));
	return result;
}

static int run_config(struct cmd_context *ctx)
{
	static const struct column columns[] = {
		{ "service", "service", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "option", "option", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "value", "value", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "set in", "from", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	const struct options *o = ctx->opt;
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err = t ? put_all(o, t) : -ENOMEM;

	if (!err)
		err = table_print(t, o->out.format, "options", false);
	table_free(t);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = { OPT_FORMAT, OPT_SOCKET, OPT_END };

const struct cmd cmd_config = {
	.name = "config",
	.args = "",
	.summary = "The options of running services, and where each was set",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_config,
};
