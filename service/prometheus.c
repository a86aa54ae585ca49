/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prometheus.c - writes status lines in the text format of Prometheus
 *
 * It follows Prometheus's conventions (prometheus.io/docs/practices/naming): base
 * units, so shares are ratios and times are seconds; names of counters end in _total;
 * one HELP and one TYPE precede all samples of a family; and no series appears twice.
 */
#include "config.h"

#include "service/prometheus.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

struct sample {
	const struct prometheus_part *part;
	const struct prometheus_rule *rule;
	char *label; /* the label's value, or the suffix, or NULL */
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

/* Whether the rule applies to a line of that name; *label becomes its label's value. */
static bool matches(const struct prometheus_rule *r, const char *name, size_t len,
		    const char **label, size_t *label_len)
{
	size_t rule_len = strlen(r->name);
	bool open = r->label && !r->value && r->type != INFO;

	if (open ? len <= rule_len : len != rule_len)
		return false;
	if (strncmp(r->name, name, rule_len))
		return false;
	*label = open ? name + rule_len : r->value;
	*label_len = open ? len - rule_len : r->value ? strlen(r->value) : 0;
	return true;
}

/* Names in a database or a reply may be any bytes; the format is UTF-8. */
static char *copy_label(const char *label, size_t len)
{
	char *copy = strndup(label, len);

	if (copy)
		text_clean(copy);
	return copy;
}

static void add_sample(struct prometheus *p, const struct sample *s, const char *label,
		       size_t label_len)
{
	struct sample *added;

	if (GROW(p->samples, p->nr)) {
		p->err = -ENOMEM;
		return;
	}
	added = &p->samples[p->nr];
	*added = *s;
	if (label) {
		added->label = copy_label(label, label_len);
		if (!added->label) {
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

/* name and value are parts of a line; the value extends to the line's end. */
static void put_line(struct prometheus *p, const struct prometheus_part *part,
		     const char *name, size_t name_len, const char *value,
		     size_t value_len)
{
	struct sample s = { .part = part };
	const bool is_number = read_number(value, value_len, &s.value);
	const char *label;
	size_t label_len;

	for (size_t i = 0; i < part->nr; i++) {
		s.rule = &part->rules[i];
		if (!matches(s.rule, name, name_len, &label, &label_len))
			continue;
		if (s.rule->type == INFO) {
			s.value = 1;
			add_sample(p, &s, value, value_len);
		} else if (is_number) {
			s.value *= s.rule->factor > 0 ? s.rule->factor : 1;
			add_sample(p, &s, label, label_len);
		}
		return;
	}
}

void prometheus_put(struct prometheus *p, const struct prometheus_part *part,
		    const char *lines)
{
	while (*lines) {
		size_t line = strcspn(lines, "\n"), name = strcspn(lines, " \n");

		if (name < line)
			put_line(p, part, lines, name, lines + name + 1,
				 line - name - 1);
		lines += line + (lines[line] == '\n');
	}
}

/* ---- to text ---- */

static int compare_family(const struct sample *a, const struct sample *b)
{
	int order = strcmp(a->part->prefix, b->part->prefix);

	return order ? order : strcmp(a->rule->family, b->rule->family);
}

static int compare_samples(const void *x, const void *y)
{
	const struct sample *a = x, *b = y;
	int order = compare_family(a, b);

	if (!order && a->label && b->label)
		order = strcmp(a->label, b->label);
	if (!order && a->rule->more && b->rule->more)
		order = strcmp(a->rule->more, b->rule->more);
	return order;
}

static void put_name(struct buf *out, const struct sample *s)
{
	buf_printf(out, "cpi_%s%s", s->part->prefix, s->rule->family);
}

/* more is another label, or NULL. */
static void put_label(struct buf *out, const char *label, const char *value,
		      const char *more)
{
	buf_printf(out, "{%s=\"", label);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buf_putc(out, '\\');
		buf_putc(out, *value);
	}
	buf_printf(out, "\"%s%s}", more ? "," : "", more ? more : "");
}

static void put_sample(struct buf *out, const struct sample *s)
{
	bool whole = s->value > -1e15 && s->value < 1e15 &&
		     s->value == (double)(int64_t)s->value;

	put_name(out, s);
	if (s->label && !s->rule->label)
		buf_puts(out, s->label);
	else if (s->label)
		put_label(out, s->rule->label, s->label, s->rule->more);
	buf_printf(out, whole ? " %.0f\n" : " %.10g\n", s->value);
}

static void put_family(struct buf *out, const struct sample *s)
{
	static const char *const types[] = { "gauge", "counter", "summary", "gauge" };

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
