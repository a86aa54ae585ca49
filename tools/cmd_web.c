/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_web.c - shows everything in a browser, by cpi-web(8)
 *
 * It finds the database as reports do, and becomes cpi-web, which serves this machine
 * alone and has this program make the reports.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/commands.h"
#include "tools/options.h"

#define MAX_ARGV 16

struct options {
	struct view_options view;
	uint64_t port;
	bool no_open;
};

struct arguments {
	char *arg[MAX_ARGV + TEXT_LIST_MAX + 1];
	int nr;
};

static int add(struct arguments *a, const char *name, const char *value)
{
	if (asprintf(&a->arg[a->nr], "--%s%s%s", name, value ? "=" : "",
		     value ? value : "") < 0)
		return -ENOMEM;
	a->nr++;
	return 0;
}

/* Beside this program, or where the build leaves it; else where it is installed. */
static int find_server(const char *own, char path[PATH_MAX])
{
	static const char *const beside[] = { "../web/", "../sbin/", "" };
	const size_t folder = (size_t)(strrchr(own, '/') - own);

	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(path, PATH_MAX, "%.*s/%scpi-web", (int)folder, own, beside[i]);
		if (!access(path, X_OK))
			return 0;
	}
	snprintf(path, PATH_MAX, "%s/cpi-web", SBINDIR);
	return access(path, X_OK) ? -errno : 0;
}

static int add_databases(struct arguments *a, const struct select_request *req)
{
	char *path = NULL;
	int err = 0;

	for (int i = 0; !err && i < req->dbs.nr; i++)
		err = add(a, "db", req->dbs.item[i]);
	if (req->dbs.nr)
		return err;
	err = select_db_path(req, &path);
	if (!err)
		err = add(a, "db", path);
	free(path);
	return err;
}

static int add_all(struct arguments *a, const struct options *o, const char *own)
{
	const char *socket = o->view.select.socket;
	char listen[32];
	/* The file is the service's: this server is the user's own. */
	int err = add(a, "config", "/dev/null");

	if (!err)
		err = add_databases(a, &o->view.select);
	snprintf(listen, sizeof(listen), "127.0.0.1:%u", (unsigned int)o->port);
	if (!err)
		err = add(a, "listen", listen);
	if (!err)
		err = add(a, "cpi", own);
	if (!err && !socket)
		socket = getenv("CPI_SOCKET");
	if (!err && socket)
		err = add(a, "socket", socket);
	if (!err && !o->no_open)
		err = add(a, "open", NULL);
	return err;
}

static int start(const struct options *o)
{
	struct arguments a = { .arg = { (char *)"cpi-web" }, .nr = 1 };
	char own[PATH_MAX] = "", path[PATH_MAX];
	int err;

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0) {
		err = -errno;
		log_err("web: /proc/self/exe: %s", err_str(err));
		return err;
	}
	if (find_server(own, path)) {
		log_err("web: there is no cpi-web here: install it, or build with "
			"libmicrohttpd");
		return -ENOENT;
	}
	err = add_all(&a, o, own);
	if (err == -ENOMEM)
		log_err("web: %s", err_str(err));
	if (err)
		return err;
	execv(path, a.arg);
	err = -errno;
	log_err("web: %s: %s", path, err_str(err));
	return err;
}

static int run_web(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	if (o->port > UINT16_MAX)
		return cmd_usage_error(ctx->cmd, "--port=%" PRIu64 ": at most %d",
				       o->port, UINT16_MAX);
	return start(o) ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_DB,
	OPT_CPID,
	OPT("port", 0, "N", "the port; by default a free one", OPT_COUNT, port),
	OPT("no-open", 0, NULL, "only print the address, open no browser", OPT_FLAG,
	    no_open),
	OPT_END,
};

const struct cmd cmd_web = {
	.name = "web",
	.args = "",
	.summary = "Show everything in a browser",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_web,
};
