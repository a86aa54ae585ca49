/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record per option: getopt's table and the help are made from them, so that they
 * cannot disagree.
 */
#include "config.h"

#include "web/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/log.h"
#include "base/number.h"
#include "base/size.h"
#include "db/core/db.h"

#define MAX_JOBS     64
#define MAX_PATIENCE 3600

struct option_record {
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *help;
	int (*set)(struct web_options *o, const char *text); /* 0 or -EINVAL */
};

static int add_text(struct text_list *list, const char *text)
{
	if (!*text || list->nr == TEXT_LIST_MAX)
		return -EINVAL;
	list->item[list->nr++] = text;
	return 0;
}

static int set_db(struct web_options *o, const char *text)
{
	return add_text(&o->server.dbs, text);
}

static int set_socket(struct web_options *o, const char *text)
{
	o->server.jobs.socket = text;
	return *text ? 0 : -EINVAL;
}

static int set_listen(struct web_options *o, const char *text)
{
	o->listen = text;
	return *text ? 0 : -EINVAL;
}

static int set_host(struct web_options *o, const char *text)
{
	return add_text(&o->server.hosts, text);
}

static int set_cpi(struct web_options *o, const char *text)
{
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

static int set_jobs(struct web_options *o, const char *text)
{
	return set_number(text, MAX_JOBS, &o->server.jobs.max_running);
}

static int set_patience(struct web_options *o, const char *text)
{
	return set_number(text, MAX_PATIENCE, &o->server.jobs.patience_s);
}

static int set_memory(struct web_options *o, const char *text)
{
	return size_parse(text, &o->server.jobs.max_memory);
}

static int set_cache(struct web_options *o, const char *text)
{
	return size_parse(text, &o->server.cache_bytes);
}

static int set_open(struct web_options *o, const char *text)
{
	o->open = true;
	return 0;
}

static int show_help(struct web_options *o, const char *text);

static int show_version(struct web_options *o, const char *text)
{
	printf("cpi-web %s\n", PACKAGE_VERSION);
	return 1;
}

static const struct option_record records[] = {
	{ "db", "FILE", "show this database; may be given again", set_db },
	{ "socket", "PATH", "cpid's control socket", set_socket },
	{ "listen", "ADDRESS", "127.0.0.1:PORT, [::1]:PORT or unix:PATH", set_listen },
	{ "host", "NAME", "a name of this server that a Host header may have",
	  set_host },
	{ "open", NULL, "show the page in a browser", set_open },
	{ "jobs", "N", "make at most N reports at a time", set_jobs },
	{ "patience", "SECONDS", "end a report that takes longer (default: 60)",
	  set_patience },
	{ "memory", "SIZE", "end a report that takes more memory (default: 2G)",
	  set_memory },
	{ "cache", "SIZE", "keep so many bytes of answers (default: 32M)", set_cache },
	{ "cpi", "PATH", "the program that makes the reports", set_cpi },
	{ "help", NULL, "show this help", show_help },
	{ "version", NULL, "show the version", show_version },
};
#define NR_OPTIONS (sizeof(records) / sizeof(records[0]))

static int show_help(struct web_options *o, const char *text)
{
	char left[64];

	puts("usage: cpi-web [OPTION...]\n\n"
	     "Serves a page about where the machine's time went, and the reports as "
	     "JSON.\n");
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		snprintf(left, sizeof(left), "--%s%s%s", records[i].name,
			 records[i].arg ? "=" : "",
			 records[i].arg ? records[i].arg : "");
		printf("  %-20s %s\n", left, records[i].help);
	}
	puts("\nMore: man 8 cpi-web");
	return 1;
}

static void set_defaults(struct web_options *o)
{
	*o = (struct web_options){ 0 };
	o->server.cache_bytes = 32 << 20;
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

static int take(struct web_options *o, int value)
{
	const struct option_record *r = &records[value - 1];
	int err = r->set(o, optarg);

	if (err < 0)
		log_err("--%s=%s: not valid: %s (see 'cpi-web --help')", r->name,
			optarg, r->help);
	return err;
}

int web_options_read(int argc, char **argv, struct web_options *o)
{
	struct option table[NR_OPTIONS + 1] = { { 0 } };
	int value, err = 0;

	for (size_t i = 0; i < NR_OPTIONS; i++)
		table[i] = (struct option){ records[i].name,
					    records[i].arg ? required_argument
							   : no_argument,
					    NULL, (int)i + 1 };
	set_defaults(o);
	while (!err && (value = getopt_long(argc, argv, "", table, NULL)) != -1)
		err = value == '?' ? -EINVAL : take(o, value);
	if (!err && optind < argc) {
		log_err("'%s' is one argument too many (see 'cpi-web --help')",
			argv[optind]);
		err = -EINVAL;
	}
	if (!err && !o->server.dbs.nr)
		err = add_text(&o->server.dbs, db_default_path());
	return err;
}
