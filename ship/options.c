/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - options of cpi-ship
 */
#include "config.h"

#include "ship/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/number.h"
#include "base/size.h"
#include "base/text.h"
#include "base/times.h"
#include "db/clickhouse/storeurl.h"
#include "db/core/db.h"

#define MAX_NAME 200 /* bytes */

#define AT(member) offsetof(struct ship_options, member)

/* In a file an empty value is the default. */
static int set_store(void *member, const char *text)
{
	return *text && !storeurl_is(text) ? -EINVAL : service_set_text(member, text);
}

/* What this machine's epochs are told from others by. */
static int set_name(void *member, const char *text)
{
	if (strlen(text) > MAX_NAME || !text_is_clean(text))
		return -EINVAL;
	return service_set_text(member, text);
}

static int set_every(void *member, const char *text)
{
	uint64_t *ns = member;
	int err = time_parse_duration(text, ns);

	return err || *ns < NSEC_PER_SEC ? -EINVAL : 0;
}

static int set_rate(void *member, const char *text)
{
	uint64_t *rate = member;

	if (strcmp(text, "0"))
		return size_parse(text, rate);
	*rate = 0;
	return 0;
}

static int set_budget(void *member, const char *text)
{
	return number_parse_real(text, "%", 0.01, 100, member);
}

/* clang-format off */
static const struct service_option records[] = {
	SERVICE_OPTION_CONFIG,
	{ "check-config", NULL, "say what is wrong with the options, and end", service_set_flag, AT(check), true },
	{ "store", "URL", "clickhouse://HOST:PORT/DATABASE (default: $CPI_STORE)", set_store, AT(store), false },
	{ "db", "FILE", "the machine's database", service_set_given, AT(db), false },
	{ "cluster", "NAME", "what this machine is part of (default: $CPI_CLUSTER)", set_name, AT(origin.cluster), false },
	{ "machine", "TYPE", "its type (default: $CPI_MACHINE, else its CPUs)", set_name, AT(origin.machine), false },
	{ "release", "NAME", "of its software, until a mark says another one", set_name, AT(origin.release), false },
	{ "every", "TIME", "look for complete epochs so often (default: 1m)", set_every, AT(every_ns), false },
	{ "rate", "SIZE", "send at most so many bytes a second (default: 1M)", set_rate, AT(rate), false },
	{ "budget", "PERCENT", "of one CPU, while there is much to ship (default: 1)", set_budget, AT(budget), false },
	{ "metrics-file", "FILE", "write metrics for Prometheus to FILE", service_set_text, AT(metrics), false },
	{ "once", NULL, "ship what is complete, and end", service_set_flag, AT(once), true },
	SERVICE_OPTION_HELP,
	SERVICE_OPTION_VERSION,
};
/* clang-format on */

static const struct service_program program = {
	.name = "cpi-ship",
	.about = "Ships the epochs of this machine's database to a fleet's store.",
	.file = SHIP_CONFIG_FILE,
	.env = "CPI_SHIP_CONFIG",
	.options = records,
	.nr = sizeof(records) / sizeof(records[0]),
};

static int check_store(const char *store)
{
	struct storeurl url;
	struct buf why = { 0 };
	int err = storeurl_parse(store, &url, &why);

	if (err == -EINVAL)
		log_err("%s: %s", store, buf_str(&why));
	if (!err)
		storeurl_fini(&url);
	buf_fini(&why);
	return err;
}

/* The environment, where options say nothing; empty texts say nothing. */
static int take_environment(struct ship_options *o)
{
	const struct {
		const char *variable;
		const char **name;
	} names[] = { { "CPI_CLUSTER", &o->origin.cluster },
		      { "CPI_MACHINE", &o->origin.machine },
		      { "CPI_RELEASE", &o->origin.release } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = getenv(names[i].variable);

		if (text && !*names[i].name && set_name(names[i].name, text)) {
			log_err("%s: not valid: at most %d bytes, and no controls",
				names[i].variable, MAX_NAME);
			return -EINVAL;
		}
	}
	return 0;
}

/* The service manager made a folder for it. */
static int set_default_metrics(struct ship_options *o)
{
	const char *folder = getenv("RUNTIME_DIRECTORY"); /* several, with colons */

	if (o->metrics || !folder || *folder != '/')
		return 0;
	if (asprintf(&o->own_metrics, "%.*s/metrics.prom", (int)strcspn(folder, ":"),
		     folder) < 0) {
		o->own_metrics = NULL;
		return -ENOMEM;
	}
	o->metrics = o->own_metrics;
	return 0;
}

static int check(struct ship_options *o)
{
	if (!o->store)
		o->store = getenv("CPI_STORE");
	if (!o->store || !storeurl_is(o->store)) {
		log_err("name a store: store = clickhouse://HOST:PORT/DATABASE in %s, "
			"--store, or CPI_STORE (see 'cpi-ship --help')",
			SHIP_CONFIG_FILE);
		return -EINVAL;
	}
	if (storeurl_is(o->db)) {
		log_err("%s: only a machine's own database can be shipped: name it "
			"with --db",
			o->db);
		return -EINVAL;
	}
	return check_store(o->store);
}

int ship_options_read(int argc, char **argv, struct ship_options *o)
{
	int err;

	*o = (struct ship_options){ .db = db_default_path(),
				    .every_ns = 60 * NSEC_PER_SEC,
				    .rate = 1 << 20,
				    .budget = 1 };
	err = service_options_read(&program, argc, argv, o, &o->values);
	if (!err)
		err = take_environment(o);
	if (!err)
		err = check(o);
	if (!err)
		err = set_default_metrics(o);
	return err ? err : o->check;
}

void ship_options_fini(struct ship_options *o)
{
	service_values_free(o->values);
	o->values = NULL;
	free(o->own_metrics);
	o->own_metrics = NULL;
}
