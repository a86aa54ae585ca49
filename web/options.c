/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "web/options.h"

#include <errno.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/log.h"
#include "base/number.h"
#include "base/size.h"
#include "db/core/db.h"
#include "service/options.h"

#define MAX_JOBS     64
#define MAX_PATIENCE 3600

/* Of the unit's RuntimeDirectory=. */
#define SHIP_METRICS "/run/cpi-ship/metrics.prom"

static int add_text(struct text_list *list, const char *text)
{
	if (!*text || list->nr == TEXT_LIST_MAX)
		return -EINVAL;
	list->item[list->nr++] = text;
	return 0;
}

static struct text_list *dbs_of(void *options)
{
	struct web_options *o = options;

	return &o->server.dbs;
}

static struct text_list *hosts_of(void *options)
{
	struct web_options *o = options;

	return &o->server.hosts;
}

static int set_db(void *options, const char *text)
{
	struct web_options *o = options;

	return add_text(&o->server.dbs, text);
}

static int set_socket(void *options, const char *text)
{
	struct web_options *o = options;

	o->server.jobs.socket = text;
	return *text ? 0 : -EINVAL;
}

static int set_listen(void *options, const char *text)
{
	struct web_options *o = options;

	o->listen = text;
	return *text ? 0 : -EINVAL;
}

static int set_host(void *options, const char *text)
{
	struct web_options *o = options;

	return add_text(&o->server.hosts, text);
}

static int set_cpi(void *options, const char *text)
{
	struct web_options *o = options;

	o->server.jobs.cpi = text;
	return *text == '/' ? 0 : -EINVAL;
}

static int set_number(const char *text, uint64_t most, unsigned int *out)
{
	uint64_t n;

	if (number_parse(text, 10, &n) || !n || n > most)
		return -EINVAL;
	*out = (unsigned int)n;
	return 0;
}

static int set_jobs(void *options, const char *text)
{
	struct web_options *o = options;

	return set_number(text, MAX_JOBS, &o->server.jobs.max_running);
}

static int set_patience(void *options, const char *text)
{
	struct web_options *o = options;

	return set_number(text, MAX_PATIENCE, &o->server.jobs.patience_s);
}

static int set_memory(void *options, const char *text)
{
	struct web_options *o = options;

	return size_parse(text, &o->server.jobs.max_memory);
}

static int set_cache(void *options, const char *text)
{
	struct web_options *o = options;

	return size_parse(text, &o->server.cache_bytes);
}

static int set_open(void *options, const char *text)
{
	struct web_options *o = options;

	return service_set_flag(text, &o->open);
}

static int set_no_source(void *options, const char *text)
{
	struct web_options *o = options;

	return service_set_flag(text, &o->server.jobs.no_source);
}

static int set_certificate(void *options, const char *text)
{
	struct web_options *o = options;

	return service_set_text(text, &o->tls.certificate);
}

static int set_key(void *options, const char *text)
{
	struct web_options *o = options;

	return service_set_text(text, &o->tls.key);
}

static int set_client_ca(void *options, const char *text)
{
	struct web_options *o = options;

	return service_set_text(text, &o->tls.ca);
}

static int set_passwords(void *options, const char *text)
{
	struct web_options *o = options;

	return service_set_text(text, &o->passwords);
}

static int set_ship_metrics(void *options, const char *text)
{
	struct web_options *o = options;

	return service_set_text(text, &o->server.ship_metrics);
}

/* clang-format off */
static const struct service_option records[] = {
	SERVICE_OPTION_CONFIG,
	{ "db", "FILE", "show this database; may be given again", set_db, dbs_of, false },
	{ "socket", "PATH", "cpid's control socket", set_socket, NULL, false },
	{ "listen", "ADDRESS", "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", set_listen, NULL, false },
	{ "host", "NAME", "a name of this server that a Host header may have", set_host, hosts_of, false },
	{ "certificate", "FILE", "use TLS with this certificate on ports", set_certificate, NULL, false },
	{ "key", "FILE", "its private key", set_key, NULL, false },
	{ "client-ca", "FILE", "let in clients with a certificate of this CA", set_client_ca, NULL, false },
	{ "passwords", "FILE", "let in the users of this file", set_passwords, NULL, false },
	{ "no-source", NULL, "read no source files for reports", set_no_source, NULL, false },
	{ "open", NULL, "show the page in a browser", set_open, NULL, false },
	{ "jobs", "N", "make at most N reports at a time", set_jobs, NULL, false },
	{ "patience", "SECONDS", "end a report that takes longer (default: 60)", set_patience, NULL, false },
	{ "memory", "SIZE", "end a report that takes more memory (default: 2G)", set_memory, NULL, false },
	{ "cache", "SIZE", "keep so many bytes of answers (default: 32M)", set_cache, NULL, false },
	{ "ship-metrics", "FILE", "the metrics of cpi-ship, which /metrics has as well", set_ship_metrics, NULL, false },
	{ "cpi", "PATH", "the program that makes the reports", set_cpi, NULL, false },
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
};

static void set_defaults(struct web_options *o)
{
	*o = (struct web_options){ 0 };
	o->server.cache_bytes = 32 << 20;
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

/* Passwords in plain text would be everybody's. */
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

int web_options_read(int argc, char **argv, struct web_options *o)
{
	int err;

	set_defaults(o);
	err = service_options_read(&program, argc, argv, o, &o->values);
	if (!err)
		err = check_tls(o);
	if (!err && !o->server.dbs.nr)
		err = add_text(&o->server.dbs, db_default_path());
	return err;
}

void web_options_fini(struct web_options *o)
{
	service_values_free(o->values);
	o->values = NULL;
}
