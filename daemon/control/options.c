/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - what each option of cpid means: one record for each
 */
#include "config.h"

#include "daemon/control/options.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "abi/control.h"
#include "base/number.h"
#include "base/times.h"
#include "daemon/collect/eventperiod.h"
#include "db/profile/context.h"

#define LEAST_PERCENT   1e-4
#define MAX_INTERVAL_NS (366 * 86400 * NSEC_PER_SEC)

/* Windows are not needed at the start, and to load them takes half a second. */
#define WINDOWS_AFTER_NS (3 * NSEC_PER_SEC)

static int parse_rate(struct options *o, const char *text, double most, double *hz)
{
	if (!number_parse_real(text, "", SESSION_MIN_HZ, most, hz))
		return 0;
	buf_printf(&o->why, "a number from %g to %.10g", SESSION_MIN_HZ, most);
	return -EINVAL;
}

static int parse_rate_or_off(struct options *o, const char *text, double most,
			     double *hz)
{
	if (strcmp(text, "off") != 0)
		return parse_rate(o, text, most, hz);
	*hz = 0;
	return 0;
}

static int parse_interval(struct options *o, const char *text, uint64_t *out)
{
	uint64_t ns;
	int err = time_parse_duration(text, &ns);

	if (!err && ns && ns <= MAX_INTERVAL_NS) {
		*out = ns;
		return 0;
	}
	buf_printf(&o->why,
		   "a number with its unit, as in 500ms, 10s or 5m, up to 366d");
	return -EINVAL;
}

static int parse_size(struct options *o, const char *text, uint64_t *out)
{
	int err = number_parse_size(text, out);

	if (err)
		buf_printf(&o->why, "bytes, or a number with K, M or G, as in 64M");
	return err;
}

static int set_db(void *options, const char *text)
{
	struct options *o = options;
	o->session.db_path = text;
	return *text ? 0 : -EINVAL;
}

static int set_socket(void *options, const char *text)
{
	struct options *o = options;
	o->socket = text;
	return *text ? 0 : -EINVAL;
}

static int set_log(void *options, const char *text)
{
	struct options *o = options;
	o->log = text;
	return *text ? 0 : -EINVAL;
}

static int set_metrics(void *options, const char *text)
{
	struct options *o = options;
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
static int add_events(void *options, const char *text)
{
	struct options *o = options;
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

static int set_freq(void *options, const char *text)
{
	struct options *o = options;
	return parse_rate(o, text, SESSION_MAX_HZ, &o->session.hz);
}

static int set_budget(void *options, const char *text)
{
	struct options *o = options;
	double percent;

	if (!number_parse_real(text, "%", LEAST_PERCENT, 100, &percent)) {
		o->session.budget = percent / 100;
		return 0;
	}
	buf_printf(&o->why, "from %g%% to 100%%, as in 0.5%%", LEAST_PERCENT);
	return -EINVAL;
}

static int set_stacks(void *options, const char *text)
{
	struct options *o = options;
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

static int set_stacks_freq(void *options, const char *text)
{
	struct options *o = options;
	return parse_rate(o, text, SESSION_STACKS_MAX_HZ, &o->session.stacks.hz);
}

static int set_stacks_copy(void *options, const char *text)
{
	struct options *o = options;
	uint64_t bytes;
	int err = number_parse_size(text, &bytes);

	if (!err && bytes >= SESSION_STACKS_MIN_COPY &&
	    bytes <= SESSION_STACKS_MAX_COPY) {
		o->session.stacks.copy = (uint32_t)bytes;
		return 0;
	}
	buf_printf(&o->why, "from %d to %d bytes, or with K, as in 60K",
		   SESSION_STACKS_MIN_COPY, SESSION_STACKS_MAX_COPY);
	return -EINVAL;
}

static void set_windows_auto(struct session_windows_config *w)
{
	w->hz = SESSION_WINDOWS_HZ;
	w->by_budget = true;
	w->after_ns = WINDOWS_AFTER_NS;
}

/* A rate that is asked for begins at once, and stays. */
static int set_windows(void *options, const char *text)
{
	struct options *o = options;

	if (!strcmp(text, "auto")) {
		set_windows_auto(&o->session.windows);
		return 0;
	}
	o->session.windows.after_ns = 0;
	o->session.windows.by_budget = false;
	return parse_rate_or_off(o, text, SESSION_WINDOWS_MAX_HZ,
				 &o->session.windows.hz);
}

static int set_windows_memory(void *options, const char *text)
{
	struct options *o = options;

	if (!strcmp(text, "auto")) {
		o->session.windows.bytes = 0;
		return 0;
	}
	return parse_size(o, text, &o->session.windows.bytes);
}

static int add_windows_exclude(void *options, const char *text)
{
	struct options *o = options;
	struct session_config *s = &o->session;
	enum windowexclude_what what;
	const char *value;

	if (windowexclude_parse(text, &what, &value) ||
	    s->windows.nr_excluded == WINDOWEXCLUDE_MAX)
		return -EINVAL;
	s->windows.exclude[s->windows.nr_excluded++] = text;
	return 0;
}

static int set_collector(void *options, const char *text)
{
	struct options *o = options;
	static const char *const names[] = { "auto", "kmod", "bpf", "perf" };

	o->session.collector = text;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i]))
			return 0;
	}
	return -EINVAL;
}

static int set_sweep(void *options, const char *text)
{
	struct options *o = options;
	return parse_interval(o, text, &o->session.sweep_ns);
}

static int set_flush(void *options, const char *text)
{
	struct options *o = options;
	return parse_interval(o, text, &o->session.flush_ns);
}

static int set_epoch(void *options, const char *text)
{
	struct options *o = options;
	int err = time_parse_duration(text, &o->session.epoch_ns);

	if (err)
		buf_printf(&o->why, "a number with its unit, as in 30s or 1h, or 0");
	return err;
}

static int set_check(void *options, const char *text)
{
	struct options *o = options;
	return parse_interval(o, text, &o->session.check_ns);
}

static int set_max_memory(void *options, const char *text)
{
	struct options *o = options;
	return parse_size(o, text, &o->session.max_memory);
}

static int set_capture(void *options, const char *text)
{
	struct options *o = options;
	if (strcmp(text, "off"))
		return parse_size(o, text, &o->session.capture_bytes);
	o->session.capture_bytes = 0;
	return 0;
}

static int set_retain(void *options, const char *text)
{
	struct options *o = options;
	return retain_parse(text, &o->session.retain, &o->why);
}

static int set_by(void *options, const char *text)
{
	struct options *o = options;
	unsigned int kinds;
	int err = context_parse_kinds(text, &kinds);

	if (err) {
		buf_printf(&o->why, "none, or any of");
		for (int i = 0; i < NR_CONTEXT_KINDS; i++)
			buf_printf(&o->why, "%s %s", i ? "," : "", context_kind_str(i));
		return err;
	}
	if (!o->has_by)
		o->session.by = 0; /* the default */
	o->has_by = true;
	o->session.by |= kinds;
	o->session.windows.by_context |= kinds != 0;
	return 0;
}

static int set_by_process(void *options, const char *text)
{
	struct options *o = options;
	o->session.by |= 1u << CONTEXT_PROCESS;
	o->session.windows.by_context = true;
	o->session.by_process = text;
	return *text ? 0 : -EINVAL;
}

static int set_group(void *options, const char *text)
{
	struct options *o = options;
	o->group = text;
	return *text ? 0 : -EINVAL;
}

static int set_user(void *options, const char *text)
{
	struct options *o = options;
	o->user = text;
	return *text ? 0 : -EINVAL;
}

/* clang-format off */
static const struct service_option records[] = {
	SERVICE_OPTION_CONFIG,
	SERVICE_OPTION_CHECK(offsetof(struct options, check)),
	{ "db", 0, "FILE", NULL, 0, set_db, "the database (default: $CPI_DB, else /var/lib/cpi/cpi.db)", 0 },
	{ "socket", 0, "PATH", CPI_CONTROL_SOCKET, 0, set_socket, "the control socket", 0 },
	{ "log", 0, "FILE", NULL, 0, set_log, "append messages to FILE (default: stderr)", 0 },
	{ "event", 'e', "EVENT[@PERIOD]", NULL, SERVICE_LIST, add_events, "sample EVENT; repeat, or separate by commas", 0 },
	{ "freq", 'F', "HZ", NULL, SERVICE_RELOADS, set_freq, "samples per second and CPU (default: from the budget)", 0 },
	{ "budget", 0, "PERCENT", "0.5%", SERVICE_RELOADS, set_budget, "time that sampling may cost", 0 },
	{ "check", 0, "TIME", "1m", SERVICE_RELOADS, set_check, "between looks at what sampling costs", 0 },
	{ "collector", 0, "auto|kmod|bpf|perf", "auto", 0, set_collector, "how samples are taken", 0 },
	{ "stacks", 0, "fp|dwarf|off", "off", 0, set_stacks, "call stacks by frame pointers or unwind tables", 0 },
	{ "stacks-freq", 0, "HZ", NULL, 0, set_stacks_freq, "call stacks per second and CPU (fp: 49, dwarf: 19)", 0 },
	{ "stacks-copy", 0, "SIZE", "60K", 0, set_stacks_copy, "with dwarf: copied of each stack", 0 },
	{ "windows", 0, "HZ|auto|off", "auto", 0, set_windows, "windows per second and CPU", 0 },
	{ "windows-exclude", 0, "WHOM", NULL, SERVICE_LIST, add_windows_exclude, "none of comm=GLOB, label=GLOB, or cgroup=PATH", 0 },
	{ "windows-memory", 0, "SIZE|auto", "auto", 0, set_windows_memory, "for windows' code and tables", 0 },
	{ "values", 0, NULL, "no", 0, service_set_flag, "with windows: keep frequent values of operands", offsetof(struct options, session.windows.with_values) },
	{ "sweep", 0, "TIME", "10s", SERVICE_RELOADS, set_sweep, "between sweeps of the tables", 0 },
	{ "flush", 0, "TIME", "10m", SERVICE_RELOADS, set_flush, "between flushes; the end of an epoch is one, too", 0 },
	{ "epoch", 0, "TIME", "1m", SERVICE_RELOADS, set_epoch, "length of an epoch, 0 for one", 0 },
	{ "retain", 0, "POLICY", RETAIN_DEFAULT, SERVICE_RELOADS, set_retain, "how long to keep what", 0 },
	{ "max-memory", 0, "SIZE", "64M", SERVICE_RELOADS, set_max_memory, "limit of the counts kept in memory", 0 },
	{ "capture", 0, "SIZE|off", "64M", 0, set_capture, "keep code and names, at most so much", 0 },
	{ "metrics-file", 0, "FILE", NULL, 0, set_metrics, "keep the status there, for Prometheus", 0 },
	{ "by", 0, "KIND[,KIND...]", "comm,cgroup", SERVICE_LIST, set_by, "contexts of profiles, or none", 0 },
	{ "by-process", 0, "GLOB", NULL, 0, set_by_process, "profiles by process, of these commands", 0 },
	{ "group", 0, "NAME", NULL, 0, set_group, "group of database and socket (default: cpi, if it exists)", 0 },
	{ "user", 0, "NAME", NULL, 0, set_user, "run as this user (default: who started it)", 0 },
	{ "verbose", 'v', NULL, "no", SERVICE_RELOADS, service_set_flag, "log more", offsetof(struct options, verbose) },
	SERVICE_OPTION_VERSION,
	SERVICE_OPTION_HELP,
};
/* clang-format on */

static void init(void *options)
{
	options_init(options);
}

static void fini(void *options)
{
	options_fini(options);
}

static const struct service_program program = {
	.name = "cpid",
	.about = "Samples the whole system, all the time, into a database.",
	.more = "TIME is 500ms, 10s, 5m, 1h or 7d; SIZE is 65536, 64K, 64M or 1G.\n"
		"POLICY is any of minutely:TIME, hourly:TIME, daily:TIME, size:SIZE, "
		"or "
		"all.\n",
	.file = CPI_CONFIG_FILE,
	.env = "CPI_CONFIG",
	.options = records,
	.nr = sizeof(records) / sizeof(records[0]),
	.size = sizeof(struct options),
	.init = init,
	.fini = fini,
	.why_at = offsetof(struct options, why),
};

const struct service_program *options_program(void)
{
	return &program;
}

void options_init(struct options *o)
{
	int err;

	memset(o, 0, sizeof(*o));
	o->session = session_config_default();
	o->session.ticks = true;
	set_windows_auto(&o->session.windows);
	o->session.windows.is_patient = true;
	o->socket = CPI_CONTROL_SOCKET;
	err = retain_parse(RETAIN_DEFAULT, &o->session.retain, &o->why);
	assert(!err);
	(void)err;
}

int options_parse(int argc, char **argv, struct options *o)
{
	options_init(o);
	return service_options_read(&program, argc, argv, o, &o->settings);
}

int options_take(struct options *o, struct options *now)
{
	o->verbose = now->verbose;
	return service_options_take(&program, &o->settings, &now->settings);
}

void options_fini(struct options *o)
{
	for (int i = 0; i < SESSION_MAX_EVENTS; i++)
		free(o->event_names[i]);
	service_settings_fini(&o->settings);
	buf_fini(&o->why);
	memset(o, 0, sizeof(*o));
}
