/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - one record per option: getopt's table and the help are made from them
 */
#include "config.h"

#include "ship/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/size.h"
#include "base/text.h"
#include "base/times.h"
#include "db/clickhouse/storeurl.h"
#include "db/core/db.h"

#define MAX_NAME 200 /* bytes */

struct option_record {
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *help;
	int (*set)(struct ship_options *o, const char *text); /* 0 or -EINVAL */
};

static int set_store(struct ship_options *o, const char *text)
{
	o->store = text;
	return storeurl_is(text) ? 0 : -EINVAL;
}

static int set_db(struct ship_options *o, const char *text)
{
	o->db = text;
	return *text ? 0 : -EINVAL;
}

/* A name of what this machine's epochs are told from others by. */
static int set_name(const char **name, const char *text)
{
	if (!*text || strlen(text) > MAX_NAME || !text_is_clean(text))
		return -EINVAL;
	*name = text;
	return 0;
}

static int set_cluster(struct ship_options *o, const char *text)
{
	return set_name(&o->origin.cluster, text);
}

static int set_machine(struct ship_options *o, const char *text)
{
	return set_name(&o->origin.machine, text);
}

static int set_release(struct ship_options *o, const char *text)
{
	return set_name(&o->origin.release, text);
}

static int set_every(struct ship_options *o, const char *text)
{
	int err = time_parse_duration(text, &o->every_ns);

	return err || o->every_ns < NSEC_PER_SEC ? -EINVAL : 0;
}

static int set_rate(struct ship_options *o, const char *text)
{
	if (!strcmp(text, "0")) {
		o->rate = 0;
		return 0;
	}
	return size_parse(text, &o->rate);
}

static int set_budget(struct ship_options *o, const char *text)
{
	return number_parse_real(text, "%", 0.01, 100, &o->budget);
}

static int set_once(struct ship_options *o, const char *text)
{
	o->once = true;
	return 0;
}

static int show_help(struct ship_options *o, const char *text);

static int show_version(struct ship_options *o, const char *text)
{
	printf("cpi-ship %s\n", PACKAGE_VERSION);
	return 1;
}

static const struct option_record records[] = {
	{ "store", "URL", "clickhouse://HOST:PORT/DATABASE (default: $CPI_STORE)",
	  set_store },
	{ "db", "FILE", "the machine's database", set_db },
	{ "cluster", "NAME", "what this machine is part of (default: $CPI_CLUSTER)",
	  set_cluster },
	{ "machine", "TYPE", "its type (default: $CPI_MACHINE, else its CPUs)",
	  set_machine },
	{ "release", "NAME", "of its software, until a mark says another one",
	  set_release },
	{ "every", "TIME", "look for complete epochs so often (default: 1m)",
	  set_every },
	{ "rate", "SIZE", "send at most so many bytes a second (default: 1M)",
	  set_rate },
	{ "budget", "PERCENT", "of one CPU, while there is much to ship (default: 1)",
	  set_budget },
	{ "once", NULL, "ship what is complete, and end", set_once },
	{ "help", NULL, "show this help", show_help },
	{ "version", NULL, "show the version", show_version },
};
#define NR_OPTIONS (sizeof(records) / sizeof(records[0]))

static int show_help(struct ship_options *o, const char *text)
{
	char left[64];

	puts("usage: cpi-ship [OPTION...]\n\n"
	     "Ships the epochs of this machine's database to a fleet's store.\n");
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		snprintf(left, sizeof(left), "--%s%s%s", records[i].name,
			 records[i].arg ? "=" : "",
			 records[i].arg ? records[i].arg : "");
		printf("  %-18s %s\n", left, records[i].help);
	}
	puts("\nMore: man 8 cpi-ship");
	return 1;
}

static int take(struct ship_options *o, int value)
{
	const struct option_record *r = &records[value - 1];
	int err = r->set(o, optarg);

	if (err < 0)
		log_err("--%s=%s: not valid: %s (see 'cpi-ship --help')", r->name,
			optarg, r->help);
	return err;
}

/* The environment, where the command line says nothing; empty texts say nothing. */
static int take_environment(struct ship_options *o)
{
	static const struct {
		const char *variable;
		int (*set)(struct ship_options *o, const char *text);
	} variables[] = { { "CPI_CLUSTER", set_cluster },
			  { "CPI_MACHINE", set_machine },
			  { "CPI_RELEASE", set_release } };

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = getenv(variables[i].variable);

		if (text && *text && variables[i].set(o, text)) {
			log_err("%s: not valid: at most %d bytes, and no controls",
				variables[i].variable, MAX_NAME);
			return -EINVAL;
		}
	}
	return 0;
}

static int check(struct ship_options *o)
{
	if (!o->store)
		o->store = getenv("CPI_STORE");
	if (!o->store || !storeurl_is(o->store)) {
		log_err("name a store: --store=clickhouse://HOST:PORT/DATABASE, or "
			"CPI_STORE (see 'cpi-ship --help')");
		return -EINVAL;
	}
	if (storeurl_is(o->db)) {
		log_err("%s: only a machine's own database can be shipped: name it "
			"with --db",
			o->db);
		return -EINVAL;
	}
	return 0;
}

int ship_options_read(int argc, char **argv, struct ship_options *o)
{
	struct option table[NR_OPTIONS + 1] = { { 0 } };
	int value, err = 0;

	for (size_t i = 0; i < NR_OPTIONS; i++)
		table[i] = (struct option){ records[i].name,
					    records[i].arg ? required_argument
							   : no_argument,
					    NULL, (int)i + 1 };
	*o = (struct ship_options){ .db = db_default_path(),
				    .every_ns = 60 * NSEC_PER_SEC,
				    .rate = 1 << 20,
				    .budget = 1 };
	err = take_environment(o);
	while (!err && (value = getopt_long(argc, argv, "", table, NULL)) != -1)
		err = value == '?' ? -EINVAL : take(o, value);
	if (!err && optind < argc) {
		log_err("'%s' is one argument too many (see 'cpi-ship --help')",
			argv[optind]);
		err = -EINVAL;
	}
	return err ? err : check(o);
}
