/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - cpi-web: sockets, token, then the server until a signal
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "service/options_publish.h"
#include "service/signals.h"
#include "tools/ui/cmd.h"
#include "web/browser.h"
#include "web/listen.h"
#include "web/options.h"

#define DEFAULT_LISTEN "127.0.0.1:0"
#define FILES_OF_JOB   3

struct web {
	struct web_options options;
	int argc; /* the command line, which a reload reads again */
	char **argv;
	struct tls tls;
	struct service_published published;
};

static int make_token(char out[SERVER_TOKEN_SIZE])
{
	unsigned char bytes[(SERVER_TOKEN_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -errno;
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
	return 0;
}

/* Makes a private folder, for SQLite's temporary files and for browser_open(). */
static int make_folder(char out[PATH_MAX])
{
	const char *base = getenv("XDG_RUNTIME_DIR");

	if (!base || access(base, W_OK))
		base = getenv("TMPDIR");
	snprintf(out, PATH_MAX, "%s/cpi-web.XXXXXX", base ? base : "/tmp");
	return mkdtemp(out) ? 0 : -errno;
}

static void remove_folder(const char *folder)
{
	char *page;

	if (asprintf(&page, "%s/cpi.html", folder) >= 0) {
		unlink(page);
		free(page);
	}
	rmdir(folder);
}

/* Creates base/name, if base is this user's own. */
static int make_own(const char *base, const char *name, char out[PATH_MAX])
{
	struct stat st;

	if (snprintf(out, PATH_MAX, "%s/%s", base, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (stat(base, &st))
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	return mkdir(out, 0700) && errno != EEXIST ? -errno : 0;
}

/*
 * Finds the folder in which reports keep what they have computed (report/cache/). It is
 * the page's own: a report that a hostile database took over cannot write into the
 * caches of cpi. Without it, reports only take longer.
 */
static int make_cache(char out[PATH_MAX])
{
	const char *service = getenv("CACHE_DIRECTORY"), *home = getenv("HOME");
	const char *caches = getenv("XDG_CACHE_HOME");
	char base[PATH_MAX], kept[PATH_MAX];
	int err;

	if (service) { /* systemd's; a link, if the user is dynamic */
		if (!realpath(service, out))
			return -errno;
	} else {
		if (caches && *caches == '/')
			snprintf(base, sizeof(base), "%s", caches);
		else if (!home || *home != '/')
			return -ENOENT;
		else if ((err = make_own(home, ".cache", base)))
			return err;
		err = make_own(base, "cpi-web", out);
		if (err)
			return err;
	}
	return make_own(out, "cpi", kept); /* a report may not make folders */
}

static int open_sockets(struct web_options *o)
{
	struct server_config *c = &o->server;
	int nr = o->listen ? 0 : listen_inherited(c->socket, SERVER_MAX_SOCKETS);
	int err;

	if (nr < 0)
		return nr;
	c->nr_sockets = nr;
	if (!nr) {
		err = listen_address(o->listen ? o->listen : DEFAULT_LISTEN,
				     &c->socket[0]);
		if (err)
			return err;
		c->nr_sockets = 1;
	}
	for (int i = 0; i < c->nr_sockets; i++) {
		if (o->tls.certificate || listen_is_local(&c->socket[i]))
			continue;
		log_err("web: other machines would reach the server: listen on "
			"127.0.0.1 or unix:PATH, or set certificate, key, and "
			"client-ca or passwords");
		return -EPERM;
	}
	return 0;
}

/*
 * A local socket has the rights of its file, and with TLS the client says who it is;
 * any user may connect to a plain port.
 */
static bool needs_token(const struct server_config *c)
{
	for (int i = 0; i < c->nr_sockets; i++) {
		if (c->socket[i].port && !c->tls)
			return true;
	}
	return false;
}

static void show_address(const struct web_options *o)
{
	const struct server_config *c = &o->server;
	const char *name = c->tls && c->hosts.nr ? c->hosts.item[0] : "127.0.0.1";
	char address[512];
	int err;

	for (int i = 0; i < c->nr_sockets; i++) {
		if (!c->socket[i].port)
			continue;
		snprintf(address, sizeof(address), "http%s://%s:%u/%s%s",
			 c->tls ? "s" : "", name, c->socket[i].port,
			 c->token ? c->token : "", c->token ? "/" : "");
		puts(address);
		fflush(stdout);
		err = o->open ? browser_open(c->jobs.folder, address) : 0;
		if (err)
			log_info("web: open the address in a browser");
		break;
	}
}

static void raise_file_limit(const struct server_config *c)
{
	const rlim_t wanted =
		64 + 2 * c->conns.max + FILES_OF_JOB * c->jobs.max_running;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void publish(const struct web *w)
{
	service_publish(&w->published, web_options_program(), &w->options.settings);
}

static int take_options(struct web *w, struct web_options *now)
{
	struct service_changes changes = { 0 };
	int err = service_options_compare(web_options_program(), &w->options.settings,
					  &now->settings, &changes);

	if (!err)
		err = web_options_take(&w->options, now);
	service_changes_end(&changes, !err);
	return err;
}

/* A wrong configuration changes nothing. 0, or why cpi-web cannot go on. */
static int reload(void *ctx)
{
	struct web *w = ctx;
	struct web_options now;
	int err = 0;

	if (web_options_read(w->argc, w->argv, &now))
		log_err("config: the previous options stay");
	else
		err = take_options(w, &now);
	web_options_fini(&now);
	if (!err)
		publish(w);
	return err;
}

static int serve(struct web *w)
{
	struct server *s = NULL;
	int signals = signals_open();
	int err;

	service_publish_open(&w->published);
	w->options.server.dir_fd = w->published.dir_fd;
	err = signals < 0 ? signals : server_new(&w->options.server, &s);
	if (!err) {
		publish(w);
		show_address(&w->options);
		err = server_run(s, signals, reload, w);
	}
	server_free(s);
	service_publish_close(&w->published);
	if (signals >= 0)
		close(signals);
	return err;
}

/* Only this server's user knows the token. */
static bool lets_others_in(const struct server_config *c)
{
	for (int i = 0; i < c->nr_sockets; i++) {
		if (!c->socket[i].port || c->tls)
			return true;
	}
	return false;
}

/* The files that say who may connect. */
static int load_secrets(struct web_options *o, struct tls *tls)
{
	int err;

	if (!o->tls.certificate)
		return 0;
	err = tls_load(tls, &o->tls);
	if (!err && o->passwords)
		err = passwords_open(o->passwords, &o->server.passwords);
	o->server.tls = tls;
	o->server.tls_files = &o->tls;
	return err;
}

static int run(struct web *w)
{
	struct web_options *o = &w->options;
	char token[SERVER_TOKEN_SIZE], folder[PATH_MAX], cache[PATH_MAX];
	int err = open_sockets(o);

	if (err)
		return err;
	err = make_folder(folder);
	if (!err && needs_token(&o->server))
		err = make_token(token);
	if (err) {
		log_err("web: %s", err_str(err));
		return err;
	}
	o->server.token = needs_token(&o->server) ? token : NULL;
	o->server.jobs.public_source = lets_others_in(&o->server);
	o->server.jobs.folder = folder;
	o->server.jobs.cache = make_cache(cache) ? NULL : cache;
	o->server.jobs.dbs = &o->server.dbs;
	raise_file_limit(&o->server);
	err = serve(w);
	remove_folder(folder);
	return err;
}

static int load_and_run(struct web *w)
{
	int err = load_secrets(&w->options, &w->tls);

	return err ? err : run(w);
}

int main(int argc, char **argv)
{
	struct web w = { .argc = argc, .argv = argv, .published = { .dir_fd = -1 } };
	int err;

	log_set_name("cpi-web");
	err = web_options_read(argc, argv, &w.options);
	if (err) {
		err = err < 0 ? EXIT_USAGE : EXIT_OK;
	} else {
		err = w.options.check ? service_options_print(web_options_program(),
							      &w.options.settings)
				      : load_and_run(&w);
		err = err ? EXIT_FAIL : EXIT_OK;
	}
	passwords_free(w.options.server.passwords);
	tls_fini(&w.tls);
	web_options_fini(&w.options);
	return err;
}
