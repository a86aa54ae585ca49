/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record per option: getopt's table, the names in files and the help are made from
 * them, so that they cannot disagree.
 */
#include "config.h"

#include "web/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/did_you_mean.h"
#include "base/log.h"
#include "base/number.h"
#include "base/size.h"
#include "service/unitfile.h"
#include "db/core/db.h"

#define MAX_JOBS     64
#define MAX_PATIENCE 3600

struct option_record {
	const char *name;
	const char *arg; /* NULL: takes none; in a file yes or no */
	const char *help;
	/* Takes a value, which has to stay, and is "yes" without one. 0 or -EINVAL. */
	int (*set)(struct web_options *o, const char *text);
	struct text_list *(*list)(struct web_options *o); /* that values are added to */
	bool on_line;                                     /* of the command line only */
};

/* A value from a file. */
struct web_setting {
	struct web_setting *next;
	char value[];
};

static int add_text(struct text_list *list, const char *text)
{
	if (!*text || list->nr == TEXT_LIST_MAX)
		return -EINVAL;
	list->item[list->nr++] = text;
	return 0;
}

static struct text_list *dbs_of(struct web_options *o)
{
	return &o->server.dbs;
}

static struct text_list *hosts_of(struct web_options *o)
{
	return &o->server.hosts;
}

/* In a file an empty value is the default. */
static int set_path(const char *text, const char **out)
{
	*out = *text ? text : NULL;
	return 0;
}

static int set_flag(const char *text, bool *out)
{
	if (strcmp(text, "yes") && strcmp(text, "no"))
		return -EINVAL;
	*out = !strcmp(text, "yes");
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
	return set_flag(text, &o->open);
}

static int set_no_source(struct web_options *o, const char *text)
{
	return set_flag(text, &o->server.jobs.no_source);
}

static int set_certificate(struct web_options *o, const char *text)
{
	return set_path(text, &o->tls.certificate);
}

static int set_key(struct web_options *o, const char *text)
{
	return set_path(text, &o->tls.key);
}

static int set_client_ca(struct web_options *o, const char *text)
{
	return set_path(text, &o->tls.ca);
}

static int set_passwords(struct web_options *o, const char *text)
{
	return set_path(text, &o->passwords);
}

static int set_config(struct web_options *o, const char *text)
{
	return 0; /* it was read before */
}

static int show_help(struct web_options *o, const char *text);

static int show_version(struct web_options *o, const char *text)
{
	printf("cpi-web %s\n", PACKAGE_VERSION);
	return 1;
}

/* clang-format off */
static const struct option_record records[] = {
	{ "config", "FILE", "read options from FILE and FILE.d/*.conf", set_config, NULL, true },
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
	{ "cpi", "PATH", "the program that makes the reports", set_cpi, NULL, false },
	{ "help", NULL, "show this help", show_help, NULL, true },
	{ "version", NULL, "show the version", show_version, NULL, true },
};
/* clang-format on */
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

/* ---- files ---- */

static int keep_value(struct web_options *o, const char *value, const char **out)
{
	struct web_setting *kept = malloc(sizeof(*kept) + strlen(value) + 1);

	if (!kept)
		return -ENOMEM;
	strcpy(kept->value, value);
	kept->next = o->settings;
	o->settings = kept;
	*out = kept->value;
	return 0;
}

static const struct option_record *find_record(const char *name)
{
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		if (!records[i].on_line && !strcmp(records[i].name, name))
			return &records[i];
	}
	return NULL;
}

static void say_unknown(const char *file, const struct unitfile_setting *s)
{
	struct did_you_mean near = did_you_mean_init(s->name);

	for (size_t i = 0; i < NR_OPTIONS; i++) {
		if (!records[i].on_line)
			did_you_mean_try(&near, records[i].name);
	}
	log_err("%s:%u:%u: there is no option \"%s\"%s%s%s", file, s->name_at.line,
		s->name_at.column, s->name, near.best ? "; did you mean \"" : "",
		near.best ? near.best : "", near.best ? "\"?" : "");
}

/* An empty value of a list removes what it has so far. */
static int take_setting(void *ctx, const char *file, const struct unitfile_setting *s)
{
	struct web_options *o = ctx;
	const struct option_record *r = find_record(s->name);
	const char *value;
	int err;

	if (!r) {
		say_unknown(file, s);
		return -EINVAL;
	}
	if (r->list && !*s->value) {
		r->list(o)->nr = 0;
		return 0;
	}
	err = keep_value(o, s->value, &value);
	if (!err)
		err = r->set(o, value);
	if (err == -EINVAL)
		log_err("%s:%u:%u: %s: \"%s\" is not valid: %s", file, s->value_at.line,
			s->value_at.column, s->name, value, r->help);
	return err;
}

/* ---- the command line ---- */

static void fill_getopt(struct option table[NR_OPTIONS + 1])
{
	memset(table, 0, sizeof(*table) * (NR_OPTIONS + 1));
	for (size_t i = 0; i < NR_OPTIONS; i++)
		table[i] = (struct option){ records[i].name,
					    records[i].arg ? required_argument
							   : no_argument,
					    NULL, (int)i + 1 };
}

/* Reads the files that the line or $CPI_WEB_CONFIG names; the default may be missing.
 */
static int read_files(int argc, char **argv, struct web_options *o)
{
	const struct unitfile_reader reader = { .program = "cpi-web",
						.section = "cpi-web",
						.setting = take_setting,
						.ctx = o };
	struct option table[NR_OPTIONS + 1];
	const char *path = NULL;
	bool only_prints = false;
	int value;

	fill_getopt(table);
	opterr = 0; /* errors are told of when the options are taken */
	while ((value = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (value == '?')
			continue;
		if (records[value - 1].set == set_config)
			path = optarg;
		only_prints |= records[value - 1].set == show_help ||
			       records[value - 1].set == show_version;
	}
	opterr = 1;
	optind = 0; /* glibc: start anew */
	if (path)
		return unitfile_read(&reader, path, false);
	path = getenv("CPI_WEB_CONFIG");
	return only_prints
		       ? 0
		       : unitfile_read(&reader, path && *path ? path : WEB_CONFIG_FILE,
				       true);
}

/* The first value of a list on the line removes those of files. */
static int take(struct web_options *o, int value, bool *seen)
{
	const struct option_record *r = &records[value - 1];
	int err;

	if (r->list && !seen[value - 1])
		r->list(o)->nr = 0;
	seen[value - 1] = true;
	err = r->set(o, r->arg ? optarg : "yes");
	if (err < 0)
		log_err("--%s=%s: not valid: %s (see 'cpi-web --help')", r->name,
			optarg, r->help);
	return err;
}

static int read_line(int argc, char **argv, struct web_options *o)
{
	struct option table[NR_OPTIONS + 1];
	bool seen[NR_OPTIONS] = { false };
	int value, err = 0;

	fill_getopt(table);
	while (!err && (value = getopt_long(argc, argv, "", table, NULL)) != -1)
		err = value == '?' ? -EINVAL : take(o, value, seen);
	if (!err && optind < argc) {
		log_err("'%s' is one argument too many (see 'cpi-web --help')",
			argv[optind]);
		err = -EINVAL;
	}
	return err;
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
	err = read_files(argc, argv, o);
	if (!err)
		err = read_line(argc, argv, o);
	if (!err)
		err = check_tls(o);
	if (!err && !o->server.dbs.nr)
		err = add_text(&o->server.dbs, db_default_path());
	return err;
}

void web_options_fini(struct web_options *o)
{
	struct web_setting *next;

	for (struct web_setting *s = o->settings; s; s = next) {
		next = s->next;
		free(s);
	}
	o->settings = NULL;
}
