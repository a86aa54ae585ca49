/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prometheus's conventions (prometheus.io/docs/practices/naming): base units, so a
 * share is a ratio and a time is in seconds; what only grows ends in _total; one
 * HELP and one TYPE in front of all samples of a family, and no series twice.
 */
#include "config.h"

#include "base/prometheus.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum type { GAUGE, COUNTER, SUMMARY };

/* How a line becomes a sample. */
struct rule {
	const char *name; /* with '.' or '_' at its end, a label's value follows */
	const char *family;
	const char *label; /* NULL: none */
	/* Of the label; NULL: what follows the name. Without a label, a suffix. */
	const char *value;
	enum type type;
	double factor; /* 0: 1 */
	const char *help;
};

#define PERCENT 1e-2
#define NS      1e-9

/* clang-format off */
static const struct rule daemon_rules[] = {
	{ "up", "up", NULL, NULL, GAUGE, 0, "Whether cpid has answered." },
	{ "uptime_s", "uptime_seconds", NULL, NULL, GAUGE, 0, "Time since cpid started." },
	{ "cpus", "cpus", NULL, NULL, GAUGE, 0, "CPUs that are sampled." },
	{ "rate_hz", "rate_hertz", NULL, NULL, GAUGE, 0, "Samples per second and CPU." },
	{ "rate_fixed", "rate_fixed", NULL, NULL, GAUGE, 0, "Whether the rate was chosen by hand, and the budget does not change it." },
	{ "rate_changes", "rate_changes_total", NULL, NULL, COUNTER, 0, "How often the rate was changed to keep the budget." },
	{ "budget_percent", "budget_ratio", NULL, NULL, GAUGE, PERCENT, "What sampling may cost, of a CPU's time." },
	{ "budget_checks", "budget_checks_total", NULL, NULL, COUNTER, 0, "How often sampling's cost was compared with the budget." },
	{ "budget_exceeded", "budget_exceeded_total", NULL, NULL, COUNTER, 0, "How many of these checks found it above the budget." },
	{ "cost_samples_percent", "cost_ratio", "part", "samples", GAUGE, PERCENT, "What sampling costs, of a CPU's time." },
	{ "cost_daemon_percent", "cost_ratio", "part", "daemon", GAUGE, PERCENT, "What sampling costs, of a CPU's time." },
	{ "interrupt_cost_ns", "sample_cost_seconds", "part", "interrupt", GAUGE, NS, "What a sample costs." },
	{ "daemon_cost_ns", "sample_cost_seconds", "part", "daemon", GAUGE, NS, "What a sample costs." },
	{ "period.", "period", "event", NULL, GAUGE, 0, "Mean period, in the event's own unit." },
	{ "received.", "received_total", "event", NULL, COUNTER, 0, "Samples that were taken." },
	{ "stored.", "stored_total", "event", NULL, COUNTER, 0, "Samples in the database." },
	{ "idle.", "idle_total", "event", NULL, COUNTER, 0, "Samples that found their CPU idle." },
	{ "not_delivered.", "not_delivered", "event", NULL, GAUGE, 0, "Samples that the event's count promised and that never came." },
	{ "handler_runs.", "handler_runs_total", "event", NULL, COUNTER, 0, "Runs of the BPF program that the kernel has timed." },
	{ "handler_ns.", "handler_seconds", "event", NULL, GAUGE, NS, "What one of them took on average." },
	{ "unknown.", "unknown_total", "reason", NULL, COUNTER, 0, "Samples whose image is not known." },
	{ "lost.", "lost_total", "reason", NULL, COUNTER, 0, "Samples that were lost." },
	{ "pending_samples", "pending_samples", NULL, NULL, GAUGE, 0, "Samples in memory, not stored yet." },
	{ "outcome_unreadable", "outcome_unreadable_total", NULL, NULL, COUNTER, 0, "Samples on code that could not be read." },
	{ "mapping_records_lost", "mapping_records_lost_total", NULL, NULL, COUNTER, 0, "Records of mappings that the kernel could not deliver." },
	{ "announcements", "announcements_total", NULL, NULL, COUNTER, 0, "Datagrams of the loader hook." },
	{ "stated.", "stated_total", "fate", NULL, COUNTER, 0, "Mappings that programs stated, and that hold." },
	{ "refused.", "refused_total", "reason", NULL, COUNTER, 0, "Statements of programs that were refused." },
	{ "processes", "processes", NULL, NULL, GAUGE, 0, "Processes whose mappings are known." },
	{ "mappings", "mappings", NULL, NULL, GAUGE, 0, "Mappings of these processes." },
	{ "images", "images", NULL, NULL, GAUGE, 0, "Images that are known." },
	{ "memory_bytes", "memory_bytes", NULL, NULL, GAUGE, 0, "Memory for counts." },
	{ "memory_limit_bytes", "memory_limit_bytes", NULL, NULL, GAUGE, 0, "Limit of the memory for counts." },
	{ "rss_bytes", "resident_memory_bytes", NULL, NULL, GAUGE, 0, "Resident memory of cpid." },
	{ "cpu_s", "cpu_seconds_total", NULL, NULL, COUNTER, 0, "CPU time of cpid." },
	{ "wakeups", "wakeups_total", NULL, NULL, COUNTER, 0, "How often cpid has waited for something to do." },
	{ "flushes", "flush_seconds", NULL, "_count", SUMMARY, 0, "How long flushes to the database took." },
	{ "flush_sum_s", "flush_seconds", NULL, "_sum", SUMMARY, 0, "How long flushes to the database took." },
	{ "flush_last_s", "flush_last_seconds", NULL, NULL, GAUGE, 0, "Time that the last flush took." },
	{ "flush_max_s", "flush_max_seconds", NULL, NULL, GAUGE, 0, "Time that the longest flush took." },
	{ "last_flush_unix_s", "last_flush_timestamp_seconds", NULL, NULL, GAUGE, 0, "When counts were stored last." },
	{ "db_bytes", "db_bytes", NULL, NULL, GAUGE, 0, "Size of the database, its write-ahead log included." },
	{ "retain_bytes_limit", "retain_limit_bytes", NULL, NULL, GAUGE, 0, "Limit of the size of the database." },
	{ "retain_days_rolled_up", "retain_days_rolled_up_total", NULL, NULL, COUNTER, 0, "Days that hours were rolled up to." },
	{ "retain_epochs_removed", "retain_epochs_removed_total", NULL, NULL, COUNTER, 0, "Epochs that were removed." },
	{ "retain_slice_max_s", "retain_slice_max_seconds", NULL, NULL, GAUGE, 0, "The longest write transaction of retention." },
};

static const struct rule database_rules[] = {
	{ "up", "up", NULL, NULL, GAUGE, 0, "Whether the database could be read." },
	{ "file_bytes", "file_bytes", NULL, NULL, GAUGE, 0, "Size of the database's file." },
	{ "wal_bytes", "wal_bytes", NULL, NULL, GAUGE, 0, "Size of its write-ahead log." },
	{ "epoch", "epoch", NULL, NULL, GAUGE, 0, "Number of the newest epoch." },
	{ "epoch_samples", "epoch_samples", NULL, NULL, GAUGE, 0, "Samples in that epoch." },
	{ "last_flush_received", "last_flush_received", NULL, NULL, GAUGE, 0, "Samples that were taken up to the last flush, since the one before." },
	{ "last_flush_stored", "last_flush_stored", NULL, NULL, GAUGE, 0, "Samples that it stored." },
	{ "last_flush_lost", "last_flush_lost", NULL, NULL, GAUGE, 0, "Samples that were lost, or whose image is not known." },
	{ "unknown_", "unknown_samples", "reason", NULL, GAUGE, 0, "Samples of the selected epochs whose image is not known." },
	{ "lost_", "lost_samples", "reason", NULL, GAUGE, 0, "Samples of the selected epochs that were lost." },
	{ "gaps", "gaps", NULL, NULL, GAUGE, 0, "Intervals of which everything was lost." },
};
/* clang-format on */

static const struct part {
	const char *name;
	const struct rule *rules;
	size_t nr;
} parts[] = {
	{ "daemon", daemon_rules, sizeof(daemon_rules) / sizeof(daemon_rules[0]) },
	{ "database", database_rules,
	  sizeof(database_rules) / sizeof(database_rules[0]) },
};

struct sample {
	const struct part *part;
	const struct rule *rule;
	char *label; /* its value, or the suffix, or NULL */
	double value;
};

struct prometheus {
	struct sample *samples;
	size_t nr;
	int err;
};

struct prometheus *prometheus_new(void)
{
	return calloc(1, sizeof(struct prometheus));
}

void prometheus_free(struct prometheus *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++)
		free(p->samples[i].label);
	free(p->samples);
	free(p);
}

/* ---- from lines ---- */

/* Whether a line of that name is the rule's; *label is then its label's value. */
static bool matches(const struct rule *r, const char *name, size_t len,
		    const char **label, size_t *label_len)
{
	size_t rule_len = strlen(r->name);
	bool open = r->label && !r->value;

	if (open ? len <= rule_len : len != rule_len)
		return false;
	if (strncmp(r->name, name, rule_len))
		return false;
	*label = open ? name + rule_len : r->value;
	*label_len = open ? len - rule_len : r->value ? strlen(r->value) : 0;
	return true;
}

/* Names in a database, or a reply, may be anything; a reader wants UTF-8. */
static char *copy_label(const char *label, size_t len)
{
	char *copy = strndup(label, len);

	for (char *c = copy; copy && *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return copy;
}

static void add_sample(struct prometheus *p, const struct sample *s, const char *label,
		       size_t label_len)
{
	struct sample *grown = reallocarray(p->samples, p->nr + 1, sizeof(*grown));

	if (!grown) {
		p->err = -ENOMEM;
		return;
	}
	p->samples = grown;
	grown[p->nr] = *s;
	if (label) {
		grown[p->nr].label = copy_label(label, label_len);
		if (!grown[p->nr].label) {
			p->err = -ENOMEM;
			return;
		}
	}
	p->nr++;
}

static bool read_number(const char *text, size_t len, double *out)
{
	char *end;

	if (!len || !strchr("-0123456789", *text))
		return false;
	*out = strtod(text, &end);
	return end == text + len && isfinite(*out);
}

/* name and value are a line's, whose end follows the value. */
static void put_line(struct prometheus *p, const struct part *part, const char *name,
		     size_t name_len, const char *value, size_t value_len)
{
	struct sample s = { .part = part };
	const char *label;
	size_t label_len;

	if (!read_number(value, value_len, &s.value))
		return;
	for (size_t i = 0; i < part->nr; i++) {
		s.rule = &part->rules[i];
		if (!matches(s.rule, name, name_len, &label, &label_len))
			continue;
		s.value *= s.rule->factor > 0 ? s.rule->factor : 1;
		add_sample(p, &s, label, label_len);
		return;
	}
}

void prometheus_put(struct prometheus *p, const char *part, const char *lines)
{
	const struct part *found = NULL;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!strcmp(parts[i].name, part))
			found = &parts[i];
	}
	while (found && *lines) {
		size_t line = strcspn(lines, "\n"), name = strcspn(lines, " \n");

		if (name < line)
			put_line(p, found, lines, name, lines + name + 1,
				 line - name - 1);
		lines += line + (lines[line] == '\n');
	}
}

/* ---- to text ---- */

static int compare_family(const struct sample *a, const struct sample *b)
{
	int order = strcmp(a->part->name, b->part->name);

	return order ? order : strcmp(a->rule->family, b->rule->family);
}

static int compare_samples(const void *x, const void *y)
{
	const struct sample *a = x, *b = y;
	int order = compare_family(a, b);

	if (order || !a->label || !b->label)
		return order;
	return strcmp(a->label, b->label);
}

static void put_name(struct buf *out, const struct sample *s)
{
	buf_printf(out, "cpi_%s_%s", s->part->name, s->rule->family);
}

static void put_label(struct buf *out, const char *label, const char *value)
{
	buf_printf(out, "{%s=\"", label);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buf_putc(out, '\\');
		buf_putc(out, *value);
	}
	buf_puts(out, "\"}");
}

static void put_sample(struct buf *out, const struct sample *s)
{
	bool whole = s->value > -1e15 && s->value < 1e15 &&
		     s->value == (double)(int64_t)s->value;

	put_name(out, s);
	if (s->label && !s->rule->label)
		buf_puts(out, s->label);
	else if (s->label)
		put_label(out, s->rule->label, s->label);
	buf_printf(out, whole ? " %.0f\n" : " %.10g\n", s->value);
}

static void put_family(struct buf *out, const struct sample *s)
{
	static const char *const types[] = { "gauge", "counter", "summary" };

	buf_puts(out, "# HELP ");
	put_name(out, s);
	buf_printf(out, " %s\n# TYPE ", s->rule->help);
	put_name(out, s);
	buf_printf(out, " %s\n", types[s->rule->type]);
}

int prometheus_format(struct prometheus *p, struct buf *out)
{
	struct sample *s = p->samples, *end, *last = NULL;

	if (p->err || !p->nr)
		return p->err;
	qsort(s, p->nr, sizeof(*s), compare_samples);
	for (end = s + p->nr; s < end; s++) {
		if (s + 1 < end && !compare_samples(s, s + 1)) {
			s[1].value += s->value;
			continue;
		}
		if (!last || compare_family(s, last))
			put_family(out, s);
		put_sample(out, s);
		last = s;
	}
	return out->err;
}
