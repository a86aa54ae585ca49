/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record per option: getopt's tables and the help are made from them, so
 * that they cannot disagree.
 */
#include "config.h"

#include "daemon/control/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "abi/control.h"
#include "base/number.h"
#include "base/size.h"
#include "base/times.h"
#include "daemon/collect/eventperiod.h"
#include "db/profile/context.h"

#define LEAST_PERCENT   1e-4
#define MAX_INTERVAL_NS (366 * 86400 * NSEC_PER_SEC)

struct option_record {
	const char *name;
	char letter;     /* 0: none */
	const char *arg; /* NULL: takes none */
	const char *help;
	/* Returns 0, -EINVAL or -ENOMEM. */
	int (*set)(struct options *o, const char *text);
};

static int parse_rate(const char *text, double most, double *hz)
{
	return number_parse_real(text, "", SESSION_MIN_HZ, most, hz) ? -EINVAL : 0;
}

static int parse_rate_or_off(const char *text, double most, double *hz)
{
	if (strcmp(text, "off") != 0)
		return parse_rate(text, most, hz);
	*hz = 0;
	return 0;
}

static int parse_interval(const char *text, uint64_t *out)
{
	uint64_t ns;
	int err = time_parse_duration(text, &ns);

	if (err || !ns || ns > MAX_INTERVAL_NS)
		return -EINVAL;
	*out = ns;
	return 0;
}

static int set_db(struct options *o, const char *text)
{
	o->session.db_path = text;
	return *text ? 0 : -EINVAL;
}

static int set_socket(struct options *o, const char *text)
{
	o->socket = text;
	return *text ? 0 : -EINVAL;
}

static int set_log(struct options *o, const char *text)
{
	o->log = text;
	return *text ? 0 : -EINVAL;
}

static int set_metrics(struct options *o, const char *text)
{
	o->metrics = text;
	return *text ? 0 : -EINVAL;
}

static int add_event(struct options *o, const char *name, size_t len)
{
	struct session_config *s = &o->session;
	uint64_t period;
	char *copy;

	if (!len || s->nr_events == SESSION_MAX_EVENTS)
		return -EINVAL;
	copy = strndup(name, len);
	if (!copy)
		return -ENOMEM;
	o->event_names[s->nr_events] = copy;
	s->events[s->nr_events++] = copy;
	return eventperiod_read(copy, &period);
}

/* Between slashes a comma is part of the name: "cpu/event=0x3c,umask=0/,cycles". */
static int add_events(struct options *o, const char *text)
{
	const char *start = text;
	bool in_slashes = false;
	int err;

	for (const char *p = text;; p++) {
		if (*p == '/')
			in_slashes = !in_slashes;
		if (*p && (*p != ',' || in_slashes))
			continue;
		err = add_event(o, start, (size_t)(p - start));
		if (err || !*p)
			return err;
		start = p + 1;
	}
}

static int set_freq(struct options *o, const char *text)
{
	return parse_rate(text, SESSION_MAX_HZ, &o->session.hz);
}

static int set_budget(struct options *o, const char *text)
{
	double percent;

	if (number_parse_real(text, "%", LEAST_PERCENT, 100, &percent))
		return -EINVAL;
	o->session.budget = percent / 100;
	return 0;
}

static int set_stacks(struct options *o, const char *text)
{
	static const char *const names[] = { [SESSION_STACKS_OFF] = "off",
					     [SESSION_STACKS_FP] = "fp",
					     [SESSION_STACKS_DWARF] = "dwarf" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]))
			continue;
		o->session.stacks.walk = i;
		return 0;
	}
	return -EINVAL;
}

static int set_stacks_freq(struct options *o, const char *text)
{
	return parse_rate(text, SESSION_STACKS_MAX_HZ, &o->session.stacks.hz);
}

static int set_stacks_copy(struct options *o, const char *text)
{
	uint64_t bytes;
	int err = size_parse(text, &bytes);

	if (err || bytes < SESSION_STACKS_MIN_COPY || bytes > SESSION_STACKS_MAX_COPY)
		return -EINVAL;
	o->session.stacks.copy = (uint32_t)bytes;
	return 0;
}

static int set_windows(struct options *o, const char *text)
{
	return parse_rate_or_off(text, SESSION_WINDOWS_MAX_HZ, &o->session.windows.hz);
}

static int set_windows_memory(struct options *o, const char *text)
{
	return size_parse(text, &o->session.windows.bytes);
}

static int add_windows_exclude(struct options *o, const char *text)
{
	struct session_config *s = &o->session;
	enum windowexclude_what what;
	const char *value;

	if (windowexclude_parse(text, &what, &value) ||
	    s->windows.nr_excluded == WINDOWEXCLUDE_MAX)
		return -EINVAL;
	s->windows.exclude[s->windows.nr_excluded++] = text;
	return 0;
}

static int set_collector(struct options *o, const char *text)
{
	static const char *const names[] = { "auto", "kmod", "bpf", "perf" };

	o->session.collector = text;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i]))
			return 0;
	}
	return -EINVAL;
}

static int set_sweep(struct options *o, const char *text)
{
	return parse_interval(text, &o->session.sweep_ns);
}

static int set_flush(struct options *o, const char *text)
{
	return parse_interval(text, &o->session.flush_ns);
}

static int set_epoch(struct options *o, const char *text)
{
	return time_parse_duration(text, &o->session.epoch_ns);
}

static int set_check(struct options *o, const char *text)
{
	return parse_interval(text, &o->session.check_ns);
}

static int set_max_memory(struct options *o, const char *text)
{
	return size_parse(text, &o->session.max_memory);
}

static int set_capture(struct options *o, const char *text)
{
	if (strcmp(text, "off"))
		return size_parse(text, &o->session.capture_bytes);
	o->session.capture_bytes = 0;
	return 0;
}

static int set_retain(struct options *o, const char *text)
{
	struct buf why = { 0 };
	int err = retain_parse(text, &o->session.retain, &why);

	if (err == -EINVAL)
		fprintf(stderr, "cpid: --retain: %s\n", buf_str(&why));
	buf_fini(&why);
	return err;
}

static int set_by(struct options *o, const char *text)
{
	unsigned int kinds;
	int err = context_parse_kinds(text, &kinds);

	if (err)
		return err;
	if (!o->has_by)
		o->session.by = 0;
	o->has_by = true;
	o->session.by |= kinds;
	o->session.windows.by_context |= kinds != 0;
	return 0;
}

static int set_by_process(struct options *o, const char *text)
{
	o->session.by |= 1u << CONTEXT_PROCESS;
	o->session.windows.by_context = true;
	o->session.by_process = text;
	return *text ? 0 : -EINVAL;
}

static int set_group(struct options *o, const char *text)
{
	o->group = text;
	return *text ? 0 : -EINVAL;
}

static int set_user(struct options *o, const char *text)
{
	o->user = text;
	return *text ? 0 : -EINVAL;
}

static int set_verbose(struct options *o, const char *text)
{
	o->verbose = true;
	return 0;
}

static int set_version(struct options *o, const char *text)
{
	o->action = OPTIONS_VERSION;
	return 0;
}

static int set_help(struct options *o, const char *text)
{
	o->action = OPTIONS_HELP;
	return 0;
}

/* clang-format off */
static const struct option_record records[] = {
	{ "db", 0, "FILE", "the database (default: $CPI_DB, else /var/lib/cpi/cpi.db)", set_db },
	{ "socket", 0, "PATH", "the control socket (default: " CPI_CONTROL_SOCKET ")", set_socket },
	{ "log", 0, "FILE", "append messages to FILE (default: stderr)", set_log },
	{ "event", 'e', "EVENT[@PERIOD]", "sample EVENT; repeat, or separate by commas", add_events },
	{ "freq", 'F', "HZ", "samples per second and CPU (default: from the budget)", set_freq },
	{ "budget", 0, "PERCENT", "time that sampling may cost (default: 0.5%)", set_budget },
	{ "check", 0, "TIME", "between looks at what sampling costs (default: 1m)", set_check },
	{ "collector", 0, "auto|kmod|bpf|perf", "how samples are taken (default: auto)", set_collector },
	{ "stacks", 0, "fp|dwarf|off", "call stacks by frame pointers or unwind tables", set_stacks },
	{ "stacks-freq", 0, "HZ", "call stacks per second and CPU (fp: 49, dwarf: 19)", set_stacks_freq },
	{ "stacks-copy", 0, "SIZE", "with dwarf: copied of each stack (default: 60K)", set_stacks_copy },
	{ "windows", 0, "HZ|off", "windows per second and CPU (default: 50)", set_windows },
	{ "windows-exclude", 0, "WHOM", "none of comm=GLOB, label=GLOB, or cgroup=PATH", add_windows_exclude },
	{ "windows-memory", 0, "SIZE", "for windows' code and tables (default: 64M)", set_windows_memory },
	{ "sweep", 0, "TIME", "between sweeps of the tables (default: 10s)", set_sweep },
	{ "flush", 0, "TIME", "between flushes to the database (default: 10m)", set_flush },
	{ "epoch", 0, "TIME", "length of an epoch, 0 for one (default: 1h)", set_epoch },
	{ "retain", 0, "POLICY", "how long to keep what (default: " RETAIN_DEFAULT ")", set_retain },
	{ "max-memory", 0, "SIZE", "limit of the counts kept in memory (default: 64M)", set_max_memory },
	{ "capture", 0, "SIZE|off", "keep code and names, at most so much (default: 64M)", set_capture },
	{ "metrics-file", 0, "FILE", "keep the status there, for Prometheus", set_metrics },
	{ "by", 0, "KIND[,KIND...]", "contexts of profiles (default: comm,cgroup), or none", set_by },
	{ "by-process", 0, "GLOB", "profiles by process, of these commands", set_by_process },
	{ "group", 0, "NAME", "group of database and socket (default: cpi, if it exists)", set_group },
	{ "user", 0, "NAME", "run as this user (default: who started it)", set_user },
	{ "verbose", 'v', NULL, "log more", set_verbose },
	{ "version", 'V', NULL, "print the version and exit", set_version },
	{ "help", 'h', NULL, "print this and exit", set_help },
};
/* clang-format on */

#define NR_RECORDS (sizeof(records) / sizeof(records[0]))

/* Long options report 256 + their record, letters themselves. */
#define LONG_BASE 256

static void fill_getopt(struct option longs[NR_RECORDS + 1],
			char letters[2 * NR_RECORDS + 2])
{
	char *p = letters;

	*p++ = '+'; /* no permuting: what follows the options is an error */
	for (size_t i = 0; i < NR_RECORDS; i++) {
		longs[i] = (struct option){
			.name = records[i].name,
			.has_arg = records[i].arg ? required_argument : no_argument,
			.val = LONG_BASE + (int)i,
		};
		if (records[i].letter) {
			*p++ = records[i].letter;
			if (records[i].arg)
				*p++ = ':';
		}
	}
	longs[NR_RECORDS] = (struct option){ 0 };
	*p = '\0';
}

static const struct option_record *find_record(int result)
{
	if (result >= LONG_BASE)
		return &records[result - LONG_BASE];
	for (size_t i = 0; i < NR_RECORDS; i++) {
		if (records[i].letter == result)
			return &records[i];
	}
	return NULL; /* '?': getopt has said why */
}

static int set_options(int argc, char **argv, struct options *o)
{
	struct option longs[NR_RECORDS + 1];
	char letters[2 * NR_RECORDS + 2];
	const struct option_record *r;
	int result, err;

	fill_getopt(longs, letters);
	optind = 0; /* glibc: start anew */
	while ((result = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		r = find_record(result);
		if (!r)
			return -EINVAL;
		err = r->set(o, optarg);
		if (err == -EINVAL)
			fprintf(stderr, "cpid: --%s: \"%s\" is no valid %s\n", r->name,
				optarg, r->arg);
		if (err)
			return err;
	}
	if (optind < argc) {
		fprintf(stderr, "cpid: there is no argument \"%s\"\n", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

int options_parse(int argc, char **argv, struct options *o)
{
	int err;

	memset(o, 0, sizeof(*o));
	o->session = session_config_default();
	o->session.ticks = true;
	o->session.windows.hz = SESSION_WINDOWS_HZ;
	o->socket = CPI_CONTROL_SOCKET;
	err = set_retain(o, RETAIN_DEFAULT);
	if (!err)
		err = set_options(argc, argv, o);
	if (err == -EINVAL)
		fprintf(stderr, "Try 'cpid --help'.\n");
	return err;
}

void options_fini(struct options *o)
{
	for (int i = 0; i < SESSION_MAX_EVENTS; i++)
		free(o->event_names[i]);
	memset(o, 0, sizeof(*o));
}

void options_help(FILE *to)
{
	fputs("usage: cpid [options]\n"
	      "\n"
	      "Samples the whole system, all the time, into a database; see cpid(8).\n"
	      "\n",
	      to);
	for (size_t i = 0; i < NR_RECORDS; i++) {
		const struct option_record *r = &records[i];
		int width;

		width = fprintf(to, "  %c%c%s --%s", r->letter ? '-' : ' ',
				r->letter ? r->letter : ' ', r->letter ? "," : " ",
				r->name);
		if (r->arg)
			width += fprintf(to, "=%s", r->arg);
		fprintf(to, "%*s%s\n", width < 30 ? 30 - width : 1, "", r->help);
	}
	fputs("\nTIME is 500ms, 10s, 5m, 1h or 7d; SIZE is 65536, 64K, 64M or 1G.\n"
	      "POLICY is any of minutely:TIME, hourly:TIME, daily:TIME, size:SIZE, or "
	      "all.\n",
	      to);
}
