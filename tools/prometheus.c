/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/prometheus.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tools/json.h"

/* The daemon's names that only grow, or that have a name of their own behind a dot. */
static const struct {
	const char *name;
	const char *label; /* of what is behind the dot; NULL: nothing is */
	bool is_counter;
} known[] = {
	{ "received", "event", true },        { "stored", "event", true },
	{ "unknown", "reason", true },        { "lost", "reason", true },
	{ "not_delivered", "event", false },  { "period", "event", false },
	{ "outcome_unreadable", NULL, true }, { "mapping_records_lost", NULL, true },
	{ "announcements", NULL, true },      { "stated", "fate", true },
	{ "refused", "reason", true },
};

struct sample {
	char *series; /* the metric, and its labels */
	size_t metric_len;
	bool is_counter;
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
		free(p->samples[i].series);
	free(p->samples);
	free(p);
}

/* Letters, digits and '_' are what a metric's name may have. */
static void put_name(struct buf *b, const char *name, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	for (size_t i = 0; i < len; i++)
		buf_putc(b, strchr(allowed, name[i]) ? name[i] : '_');
}

static void put_label(struct buf *b, const char *label, const char *value)
{
	buf_printf(b, "{%s=\"", label);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buf_putc(b, '\\');
		buf_putc(b, *value);
	}
	buf_puts(b, "\"}");
}

/* Makes the series' name. It is the caller's, and NULL when out of memory. */
static char *name_series(const char *part, const char *name, struct sample *s)
{
	const char *label = NULL;
	size_t len = strcspn(name, ".");
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) != len || strncmp(known[i].name, name, len))
			continue;
		s->is_counter = known[i].is_counter;
		label = name[len] ? known[i].label : NULL;
	}
	if (!label)
		len = strlen(name);
	buf_puts(&b, "cpi_");
	put_name(&b, part, strlen(part));
	buf_putc(&b, '_');
	put_name(&b, name, len);
	if (s->is_counter)
		buf_puts(&b, "_total");
	s->metric_len = b.len;
	if (label)
		put_label(&b, label, name + len + 1);
	buf_putc(&b, 0);
	if (b.err)
		buf_fini(&b);
	return b.data;
}

void prometheus_put(struct prometheus *p, const char *part, const char *name,
		    const char *value)
{
	struct sample s = { 0 }, *grown;

	if (!json_is_number(value))
		return;
	s.value = strtod(value, NULL);
	s.series = name_series(part, name, &s);
	grown = s.series ? reallocarray(p->samples, p->nr + 1, sizeof(s)) : NULL;
	if (!grown) {
		free(s.series);
		p->err = -ENOMEM;
		return;
	}
	p->samples = grown;
	p->samples[p->nr++] = s;
}

static int compare_series(const void *a, const void *b)
{
	return strcmp(((const struct sample *)a)->series,
		      ((const struct sample *)b)->series);
}

static bool is_same_metric(const struct sample *a, const struct sample *b)
{
	return a->metric_len == b->metric_len &&
	       !strncmp(a->series, b->series, a->metric_len);
}

int prometheus_print(struct prometheus *p)
{
	struct sample *s = p->samples, *end = s + p->nr, *printed = NULL;

	if (p->err)
		return p->err;
	if (p->nr)
		qsort(s, p->nr, sizeof(*s), compare_series);
	for (; s < end; s++) {
		if (s + 1 < end && !compare_series(s, s + 1)) {
			s[1].value += s->value;
			continue;
		}
		if (!printed || !is_same_metric(s, printed))
			printf("# TYPE %.*s %s\n", (int)s->metric_len, s->series,
			       s->is_counter ? "counter" : "gauge");
		printf("%s %.17g\n", s->series, s->value);
		printed = s;
	}
	return 0;
}
