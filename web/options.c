/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - the table of cpi-web's options, and their defaults
 *
 * service/options.c reads files and command line by this table, so each option has the
 * same name in both.
 */
#include "config.h"

#include "web/options.h"

#include <errno.h>
#include <stddef.h>
#include <sys/sysinfo.h>

#include "base/log.h"
#include "base/number.h"
#include "db/core/db.h"
#include "service/options.h"

#define MAX_JOBS     64
#define MAX_PATIENCE 3600

/* Of the unit's RuntimeDirectory=. */
#define SHIP_METRICS "/run/cpi-ship/metrics.prom"

#define AT(member) offsetof(struct web_options, member)

static int set_program(void *member, const char *text)
{
	return *text == '/' ? service_set_given(member, text) : -EINVAL;
}

static int set_number(const char *text, uint64_t most, unsigned int *out)
{
	uint64_t n;

	if (number_parse(text, 10, &n) || !n || n > most)
		return -EINVAL;
	*out = (unsigned int)n;
	return 0;
}

static int set_jobs(void *member, const char *text)
{
	return set_number(text, MAX_JOBS, member);
}

static int set_patience(void *member, const char *text)
{
	return set_number(text, MAX_PATIENCE, member);
}

static int set_size(void *member, const char *text)
{
	return number_parse_size(text, member);
}

static void init(void *options)
{
	struct web_options *o = options;

	*o = (struct web_options){ 0 };
	o->server.cache_bytes = 32 << 20;
	o->server.dir_fd = -1;
	o->server.ship_metrics = SHIP_METRICS;
	o->server.conns = (struct conns_config){
		.max = 512, .max_of_peer = 256, .patience_s = 10, .sending_s = 120
	};
	o->server.jobs = (struct jobs_config){
		.cpi = CPI_PROGRAM,
		.max_running = get_nprocs() < 2   ? 2
			       : get_nprocs() > 4 ? 4
						  : (unsigned int)get_nprocs(),
		.max_queued = 64,
		.max_memory = 2ULL << 30,
		.max_gzip = 8 << 20,
		.patience_s = 60,
	};
}

/* clang-format off */
static const struct service_option records[] = {
	SERVICE_OPTION_CONFIG,
	SERVICE_OPTION_CHECK(AT(check)),
	{ "db", 0, "FILE", NULL, SERVICE_LIST | SERVICE_RELOADS, service_add_text, "show this database; may be given again", AT(server.dbs) },
	{ "socket", 0, "PATH", NULL, SERVICE_RELOADS, service_set_given, "cpid's control socket", AT(server.jobs.socket) },
	{ "listen", 0, "ADDRESS", NULL, 0, service_set_given, "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", AT(listen) },
	{ "host", 0, "NAME", NULL, SERVICE_LIST | SERVICE_RELOADS, service_add_text, "a name of this server that a Host header may have", AT(server.hosts) },
	{ "certificate", 0, "FILE", NULL, 0, service_set_text, "use TLS with this certificate on ports", AT(tls.certificate) },
	{ "key", 0, "FILE", NULL, 0, service_set_text, "its private key", AT(tls.key) },
	{ "client-ca", 0, "FILE", NULL, 0, service_set_text, "let in clients with a certificate of this CA", AT(tls.ca) },
	{ "passwords", 0, "FILE", NULL, 0, service_set_text, "let in the users of this file", AT(passwords) },
	{ "no-source", 0, NULL, "no", SERVICE_RELOADS, service_set_flag, "read no source files for reports", AT(server.jobs.no_source) },
	{ "open", 0, NULL, "no", 0, service_set_flag, "show the page in a browser", AT(open) },
	{ "jobs", 0, "N", NULL, SERVICE_RELOADS, set_jobs, "make at most N reports at a time", AT(server.jobs.max_running) },
	{ "patience", 0, "SECONDS", "60", SERVICE_RELOADS, set_patience, "end a report that takes longer", AT(server.jobs.patience_s) },
	{ "memory", 0, "SIZE", "2G", SERVICE_RELOADS, set_size, "end a report that takes more memory", AT(server.jobs.max_memory) },
	{ "cache", 0, "SIZE", "32M", SERVICE_RELOADS, set_size, "keep at most this many bytes of answers", AT(server.cache_bytes) },
	{ "ship-metrics", 0, "FILE", SHIP_METRICS, SERVICE_RELOADS, service_set_text, "the metrics of cpi-ship, which /metrics has as well", AT(server.ship_metrics) },
	{ "cpi", 0, "PATH", CPI_PROGRAM, SERVICE_RELOADS, set_program, "the program that makes the reports", AT(server.jobs.cpi) },
	SERVICE_OPTION_HELP,
	SERVICE_OPTION_VERSION,
};
/* clang-format on */

static const struct service_program program = {
	.name = "cpi-web",
	.about =
		"Serves a page about where the machine's time went, and the reports as "
		"JSON.",
	.file = WEB_CONFIG_FILE,
	.env = "CPI_WEB_CONFIG",
	.options = records,
	.nr = sizeof(records) / sizeof(records[0]),
	.size = sizeof(struct web_options),
	.init = init,
};

const struct service_program *web_options_program(void)
{
	return &program;
}

/* Without TLS, anyone on the network could read the passwords. */
static int check_tls(const struct web_options *o)
{
	const struct tls_files *tls = &o->tls;
	const char *why = NULL;

	if (!tls->certificate != !tls->key)
		why = "certificate and key belong together";
	else if (!tls->certificate && (tls->ca || o->passwords))
		why = "client-ca and passwords need a certificate and its key";
	else if (tls->certificate && !tls->ca && !o->passwords)
		why = "with a certificate, client-ca or passwords say who may connect";
	if (!why)
		return 0;
	log_err("web: %s (see cpi-web(8), REMOTE ACCESS)", why);
	return -EINVAL;
}

/* What the settings leave open. */
static int complete(struct web_options *o)
{
	int err = check_tls(o);

	if (!err && !o->server.dbs.nr)
		err = service_add_text(&o->server.dbs, db_default_path());
	return err;
}

int web_options_read(int argc, char **argv, struct web_options *o)
{
	int err;

	init(o);
	err = service_options_read(&program, argc, argv, o, &o->settings);
	return err ? err : complete(o);
}

/* A running server has parts of its configuration from elsewhere: they stay. */
static void take_server(struct server_config *c, const struct server_config *now)
{
	const char *folder = c->jobs.folder, *cache = c->jobs.cache;
	const bool public_source = c->jobs.public_source;

	c->dbs = now->dbs;
	c->hosts = now->hosts;
	c->jobs = now->jobs;
	c->jobs.folder = folder;
	c->jobs.cache = cache;
	c->jobs.public_source = public_source;
	c->jobs.dbs = &c->dbs;
	c->cache_bytes = now->cache_bytes;
	c->ship_metrics = now->ship_metrics;
}

int web_options_take(struct web_options *o, struct web_options *now)
{
	struct web_options taken;
	int err = service_options_take(&program, &o->settings, &now->settings);

	init(&taken);
	if (!err)
		err = service_options_set(&program, &o->settings, &taken);
	if (!err)
		err = complete(&taken);
	if (!err)
		take_server(&o->server, &taken.server);
	return err;
}

void web_options_fini(struct web_options *o)
{
	service_settings_fini(&o->settings);
}
