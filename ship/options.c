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
#include "base/hmap.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "base/times.h"
#include "db/clickhouse/storeurl.h"
#include "db/core/db.h"
#include "service/shipconfig.h"
#include "ship/sums.h"

#define MAX_NAME      200 /* bytes */
#define LEAST_SUMS_NS (60 * NSEC_PER_SEC)
#define DAY_NS        (24 * NSEC_PER_HOUR)

#define AT(member) offsetof(struct ship_options, member)

/* In a file an empty value is the default. */
static int set_store(void *member, const char *text)
{
	return *text && !storeurl_is(text) ? -EINVAL : service_set_text(member, text);
}

/* A name that distinguishes this machine's epochs from those of others. */
static int set_name(void *member, const char *text)
{
	if (strlen(text) > MAX_NAME || !text_is_clean(text))
		return -EINVAL;
	return service_set_text(member, text);
}

static int set_every(void *member, const char *text)
{
	uint64_t *ns = member;
	int err;

	*ns = 0; /* auto */
	if (!strcmp(text, "auto"))
		return 0;
	err = time_parse_duration(text, ns);
	return err || *ns < NSEC_PER_SEC ? -EINVAL : 0;
}

static int set_rate(void *member, const char *text)
{
	uint64_t *rate = member;

	if (strcmp(text, "0"))
		return number_parse_size(text, rate);
	*rate = 0;
	return 0;
}

/* Without bytes each epoch is shipped with all that it has. */
static int set_budget(void *member, const char *text)
{
	struct ship_options *o = container_of(member, struct ship_options, how.bytes);
	const size_t len = strcspn(text, ",");
	char percent[32];

	if (len >= sizeof(percent))
		return -EINVAL;
	memcpy(percent, text, len);
	percent[len] = '\0';
	o->how.bytes = 0;
	if (number_parse_real(percent, "%", 0.01, 100, &o->percent))
		return -EINVAL;
	return text[len]
		       ? number_parse_size(text + len + 1 + strspn(text + len + 1, " "),
					   &o->how.bytes)
		       : 0;
}

/*
 * Retention makes epochs of hours and days (UTC). None of them may have a part of a
 * sum: it would count twice.
 */
static int set_sums(void *member, const char *text)
{
	uint64_t *ns = member;
	int err;

	*ns = 0; /* auto */
	if (!strcmp(text, "auto"))
		return 0;
	err = time_parse_duration(text, ns);
	if (err || *ns < LEAST_SUMS_NS)
		return -EINVAL;
	if (NSEC_PER_HOUR % *ns && (*ns % NSEC_PER_HOUR || DAY_NS % *ns))
		return -EINVAL;
	return 0;
}

static int set_thin(void *member, const char *text)
{
	uint64_t *n = member;
	int err;

	*n = 0; /* auto */
	if (!strcmp(text, "auto"))
		return 0;
	err = number_parse(text, 10, n);
	return err || !*n || *n > SHIP_MAX_THIN ? -EINVAL : 0;
}

static void init(void *options)
{
	*(struct ship_options *)options = (struct ship_options){
		.db = db_default_path(),
		.rate = 1 << 20,
		.percent = 1,
		.how = { .bytes = 450 << 10 },
	};
}

/* clang-format off */
static const struct service_option records[] = {
	SERVICE_OPTION_CONFIG,
	SERVICE_OPTION_CHECK(AT(check)),
	{ "store", 0, "URL", NULL, SERVICE_RELOADS, set_store, "clickhouse://HOST:PORT/DATABASE (default: $CPI_STORE)", AT(store) },
	{ "db", 0, "FILE", NULL, 0, service_set_given, "the machine's database", AT(db) },
	{ "host", 0, "NAME", NULL, SERVICE_RELOADS, set_name, "this machine's name in the store (default: $CPI_HOST, else its host name)", AT(origin.host) },
	{ "cluster", 0, "NAME", NULL, SERVICE_RELOADS, set_name, "what this machine is part of (default: $CPI_CLUSTER)", AT(origin.cluster) },
	{ "machine", 0, "TYPE", NULL, SERVICE_RELOADS, set_name, "its type (default: $CPI_MACHINE, else its CPUs)", AT(origin.machine) },
	{ "release", 0, "NAME", NULL, SERVICE_RELOADS, set_name,
	  "the release of this machine's software, until a mark names another",
	  AT(origin.release) },
	{ "sums", 0, "TIME|auto", "auto", SERVICE_RELOADS, set_sums,
	  "ship sums of the epochs in intervals of this length, such as 1h or 24h",
	  AT(how.sums_ns) },
	{ "thin", 0, "N|auto", "auto", SERVICE_RELOADS, set_thin, "of sums: ship one of N samples, chosen at random", AT(how.one_in) },
	{ "every", 0, "TIME|auto", "auto", SERVICE_RELOADS, set_every, "look for complete epochs at this interval; auto: 1m, or a sixth of the length of sums, at most 30m", AT(every_ns) },
	{ "rate", 0, "SIZE", "1M", SERVICE_RELOADS, set_rate, "send at most this many bytes a second", AT(rate) },
	{ "budget", 0, "PERCENT[,SIZE]", "1%,450K", SERVICE_RELOADS, set_budget,
	  "take this share of a CPU while many epochs wait; send SIZE per CPU and day",
	  AT(how.bytes) },
	{ "metrics-file", 0, "FILE", NULL, 0, service_set_text, "write metrics for Prometheus to FILE", AT(metrics) },
	{ "once", 0, NULL, NULL, SERVICE_COMMAND_LINE, service_set_flag, "ship what is complete, and end", AT(once) },
	SERVICE_OPTION_HELP,
	SERVICE_OPTION_VERSION,
};
/* clang-format on */

static const struct service_program program = {
	.name = SHIPCONFIG_SECTION,
	.about = "Ships the epochs of this machine's database to a fleet's store.",
	.file = SHIPCONFIG_FILE,
	.env = "CPI_SHIP_CONFIG",
	.options = records,
	.nr = sizeof(records) / sizeof(records[0]),
	.size = sizeof(struct ship_options),
	.init = init,
};

const struct service_program *ship_options_program(void)
{
	return &program;
}

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

/* Takes names that no option sets from the environment. "" counts as not set. */
static int take_environment(struct ship_options *o)
{
	const struct {
		const char *variable;
		const char **name;
	} names[] = { { "CPI_HOST", &o->origin.host },
		      { "CPI_CLUSTER", &o->origin.cluster },
		      { "CPI_MACHINE", &o->origin.machine },
		      { "CPI_RELEASE", &o->origin.release } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = getenv(names[i].variable);

		if (text && !*names[i].name && set_name(names[i].name, text)) {
			log_err("%s: at most %d bytes, and no control characters",
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
			SHIPCONFIG_FILE);
		return -EINVAL;
	}
	if (o->how.one_in > 1 && !o->how.sums_ns && !o->how.bytes) {
		log_err("--thin needs --sums, or a budget of bytes: only sums can be "
			"thinned, because they have no windows and branches");
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

/* What the settings leave open. */
static int complete(struct ship_options *o)
{
	int err = take_environment(o);

	if (!err)
		err = check(o);
	return err ? err : set_default_metrics(o);
}

int ship_options_read(int argc, char **argv, struct ship_options *o)
{
	int err;

	init(o);
	err = service_options_read(&program, argc, argv, o, &o->settings);
	return err ? err : complete(o);
}

int ship_options_take(struct ship_options *o, struct ship_options *now)
{
	struct ship_options taken;
	int err = service_options_take(&program, &o->settings, &now->settings);

	init(&taken);
	if (!err)
		err = service_options_set(&program, &o->settings, &taken);
	if (!err)
		err = complete(&taken);
	free(taken.own_metrics);
	if (err)
		return err;
	taken.own_metrics = o->own_metrics; /* the open file has this text */
	taken.metrics = o->metrics;
	taken.settings = o->settings;
	*o = taken;
	return 0;
}

void ship_options_fini(struct ship_options *o)
{
	service_settings_fini(&o->settings);
	free(o->own_metrics);
	o->own_metrics = NULL;
}
