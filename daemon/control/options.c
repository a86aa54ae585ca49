/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - what each option of cpid means: one record for each
 *
 * The command line's table, the names in configuration files, the help and the list of
 * what is in force are made from the records, so that they cannot disagree.
 * options_read.c finds the values.
 */
#include "config.h"

#include "daemon/control/options.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/control.h"
#include "base/number.h"
#include "base/size.h"
#include "base/times.h"
#include "daemon/collect/eventperiod.h"
#include "daemon/control/options_private.h"
#include "db/profile/context.h"

#define LEAST_PERCENT   1e-4
#define MAX_INTERVAL_NS (366 * 86400 * NSEC_PER_SEC)

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
	return retain_parse(text, &o->session.retain, &o->why);
}

static int set_by(struct options *o, const char *text)
{
	unsigned int kinds;
	int err = context_parse_kinds(text, &kinds);

	if (err)
		return err;
	if (!o->has_by)
		o->session.by = 0; /* the default */
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

/* Of a flag: nothing on the command line, and a word in a file. */
static int set_verbose(struct options *o, const char *text)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = { { "", true },       { "yes", true },  { "true", true },
		      { "on", true },     { "1", true },    { "no", false },
		      { "false", false }, { "off", false }, { "0", false } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i].word))
			continue;
		o->verbose = words[i].value;
		return 0;
	}
	return -EINVAL;
}

static int set_config(struct options *o, const char *text)
{
	return *text ? 0 : -EINVAL; /* options_read.c has read it */
}

static int set_check_config(struct options *o, const char *text)
{
	o->action = OPTIONS_CHECK_CONFIG;
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
	{ "config", 0, "FILE", NULL, OPTION_ON_LINE, set_config, "read options from FILE and FILE.d/*.conf (default: " CPI_CONFIG_FILE ")" },
	{ "check-config", 0, NULL, NULL, OPTION_ON_LINE, set_check_config, "check them, print what would be in force, and exit" },
	{ "db", 0, "FILE", NULL, 0, set_db, "the database (default: $CPI_DB, else /var/lib/cpi/cpi.db)" },
	{ "socket", 0, "PATH", CPI_CONTROL_SOCKET, 0, set_socket, "the control socket" },
	{ "log", 0, "FILE", NULL, 0, set_log, "append messages to FILE (default: stderr)" },
	{ "event", 'e', "EVENT[@PERIOD]", NULL, OPTION_LIST, add_events, "sample EVENT; repeat, or separate by commas" },
	{ "freq", 'F', "HZ", NULL, OPTION_RELOADS, set_freq, "samples per second and CPU (default: from the budget)" },
	{ "budget", 0, "PERCENT", "0.5%", OPTION_RELOADS, set_budget, "time that sampling may cost" },
	{ "check", 0, "TIME", "1m", OPTION_RELOADS, set_check, "between looks at what sampling costs" },
	{ "collector", 0, "auto|kmod|bpf|perf", "auto", 0, set_collector, "how samples are taken" },
	{ "stacks", 0, "fp|dwarf|off", "off", 0, set_stacks, "call stacks by frame pointers or unwind tables" },
	{ "stacks-freq", 0, "HZ", NULL, 0, set_stacks_freq, "call stacks per second and CPU (fp: 49, dwarf: 19)" },
	{ "stacks-copy", 0, "SIZE", "60K", 0, set_stacks_copy, "with dwarf: copied of each stack" },
	{ "windows", 0, "HZ|off", "50", 0, set_windows, "windows per second and CPU" },
	{ "windows-exclude", 0, "WHOM", NULL, OPTION_LIST, add_windows_exclude, "none of comm=GLOB, label=GLOB, or cgroup=PATH" },
	{ "windows-memory", 0, "SIZE", "24M", 0, set_windows_memory, "for windows' code and tables" },
	{ "sweep", 0, "TIME", "10s", OPTION_RELOADS, set_sweep, "between sweeps of the tables" },
	{ "flush", 0, "TIME", "10m", OPTION_RELOADS, set_flush, "between flushes; the end of an epoch is one, too" },
	{ "epoch", 0, "TIME", "1m", OPTION_RELOADS, set_epoch, "length of an epoch, 0 for one" },
	{ "retain", 0, "POLICY", RETAIN_DEFAULT, OPTION_RELOADS, set_retain, "how long to keep what" },
	{ "max-memory", 0, "SIZE", "64M", OPTION_RELOADS, set_max_memory, "limit of the counts kept in memory" },
	{ "capture", 0, "SIZE|off", "64M", 0, set_capture, "keep code and names, at most so much" },
	{ "metrics-file", 0, "FILE", NULL, 0, set_metrics, "keep the status there, for Prometheus" },
	{ "by", 0, "KIND[,KIND...]", "comm,cgroup", OPTION_LIST, set_by, "contexts of profiles, or none" },
	{ "by-process", 0, "GLOB", NULL, 0, set_by_process, "profiles by process, of these commands" },
	{ "group", 0, "NAME", NULL, 0, set_group, "group of database and socket (default: cpi, if it exists)" },
	{ "user", 0, "NAME", NULL, 0, set_user, "run as this user (default: who started it)" },
	{ "verbose", 'v', NULL, "no", OPTION_RELOADS, set_verbose, "log more" },
	{ "version", 'V', NULL, NULL, OPTION_ON_LINE, set_version, "print the version and exit" },
	{ "help", 'h', NULL, NULL, OPTION_ON_LINE, set_help, "print this and exit" },
};
/* clang-format on */

#define NR_RECORDS (sizeof(records) / sizeof(records[0]))

const struct option_record *option_records(size_t *nr)
{
	*nr = NR_RECORDS;
	return records;
}

void options_init(struct options *o)
{
	int err;

	memset(o, 0, sizeof(*o));
	o->session = session_config_default();
	o->session.ticks = true;
	o->session.windows.hz = SESSION_WINDOWS_HZ;
	o->socket = CPI_CONTROL_SOCKET;
	err = retain_parse(RETAIN_DEFAULT, &o->session.retain, &o->why);
	assert(!err);
	(void)err;
}

static void free_settings(struct settings *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->list[i].value);
		free(s->list[i].file);
	}
	free(s->list);
}

void options_fini(struct options *o)
{
	for (int i = 0; i < SESSION_MAX_EVENTS; i++)
		free(o->event_names[i]);
	free_settings(&o->settings);
	buf_fini(&o->why);
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
		fprintf(to, "%*s%s", width < 30 ? 30 - width : 1, "", r->help);
		if (r->fallback && r->arg)
			fprintf(to, " (default: %s)", r->fallback);
		putc('\n', to);
	}
	fputs("\nTIME is 500ms, 10s, 5m, 1h or 7d; SIZE is 65536, 64K, 64M or 1G.\n"
	      "POLICY is any of minutely:TIME, hourly:TIME, daily:TIME, size:SIZE, or "
	      "all.\n",
	      to);
}
