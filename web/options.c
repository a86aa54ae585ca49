/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "web/options.h"

#include <errno.h>
#include <stddef.h>
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
	return size_parse(text, member);
}

/* clang-format off */
static const struct service_option records[] = {
	SERVICE_OPTION_CONFIG,
	{ "db", "FILE", "show this database; may be given again", service_add_text, AT(server.dbs), false },
	{ "socket", "PATH", "cpid's control socket", service_set_given, AT(server.jobs.socket), false },
	{ "listen", "ADDRESS", "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", service_set_given, AT(listen), false },
	{ "host", "NAME", "a name of this server that a Host header may have", service_add_text, AT(server.hosts), false },
	{ "certificate", "FILE", "use TLS with this certificate on ports", service_set_text, AT(tls.certificate), false },
	{ "key", "FILE", "its private key", service_set_text, AT(tls.key), false },
	{ "client-ca", "FILE", "let in clients with a certificate of this CA", service_set_text, AT(tls.ca), false },
	{ "passwords", "FILE", "let in the users of this file", service_set_text, AT(passwords), false },
	{ "no-source", NULL, "read no source files for reports", service_set_flag, AT(server.jobs.no_source), false },
	{ "open", NULL, "show the page in a browser", service_set_flag, AT(open), false },
	{ "jobs", "N", "make at most N reports at a time", set_jobs, AT(server.jobs.max_running), false },
	{ "patience", "SECONDS", "end a report that takes longer (default: 60)", set_patience, AT(server.jobs.patience_s), false },
	{ "memory", "SIZE", "end a report that takes more memory (default: 2G)", set_size, AT(server.jobs.max_memory), false },
	{ "cache", "SIZE", "keep so many bytes of answers (default: 32M)", set_size, AT(server.cache_bytes), false },
	{ "ship-metrics", "FILE", "the metrics of cpi-ship, which /metrics has as well", service_set_text, AT(server.ship_metrics), false },
	{ "cpi", "PATH", "the program that makes the reports", set_program, AT(server.jobs.cpi), false },
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
		err = service_add_text(&o->server.dbs, db_default_path());
	return err;
}

void web_options_fini(struct web_options *o)
{
	service_values_free(o->values);
	o->values = NULL;
}
