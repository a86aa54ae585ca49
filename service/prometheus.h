/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prometheus.h - a status as text for Prometheus and its node_exporter
 *
 * A status is lines "name value". The caller's table has a rule for each name: its
 * type, unit and help. Lines without a rule, and values that are not numbers, are left
 * out.
 */
#ifndef CPI_SERVICE_PROMETHEUS_H
#define CPI_SERVICE_PROMETHEUS_H

#include <stddef.h>

#include "base/buf.h"

/* INFO is a gauge of 1, whose label has the value, which may be any text. */
enum prometheus_type { GAUGE, COUNTER, SUMMARY, INFO };

/* How a line becomes a sample. */
struct prometheus_rule {
	const char *name; /* ends in '.' or '_' if the label's value follows it */
	const char *family;
	const char *label; /* NULL if there is none */
	/*
	 * The label's value, or NULL to take the rest of the line's name. Without a
	 * label, a suffix of the family's name.
	 */
	const char *value;
	enum prometheus_type type;
	double factor; /* the value's factor; 0 means 1 */
	const char *help;
	const char *more; /* another label, as in outcome="stored"; or NULL */
};

/* A part of a status, whose metrics are called cpi_PREFIXFAMILY. */
struct prometheus_part {
	const char *prefix; /* "" or a word and '_' */
	const struct prometheus_rule *rules;
	size_t nr;
};

struct prometheus;

struct prometheus *prometheus_new(void);    /* NULL when out of memory */
void prometheus_free(struct prometheus *p); /* accepts NULL */

/*
 * Adds the lines of a part, which must stay. "received.cycles 7" of the daemon becomes
 * cpi_samples_total{stream="cycles",outcome="received"} 7. Values with the same name
 * and labels are added up.
 */
void prometheus_put(struct prometheus *p, const struct prometheus_part *part,
		    const char *lines);

/* Appends all metrics, with help and type. 0, or -ENOMEM if any call ran out. */
int prometheus_format(struct prometheus *p, struct buf *out);

#endif
