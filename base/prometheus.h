/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prometheus.h - a status in Prometheus's text format, as its node_exporter reads
 * files of
 *
 * A status is lines "name value". What is known of a name, whether it only grows,
 * its unit and what it tells, is a table in prometheus.c; what is not there, or is
 * no number, is left out.
 */
#ifndef CPI_BASE_PROMETHEUS_H
#define CPI_BASE_PROMETHEUS_H

#include "base/buf.h"

struct prometheus;

struct prometheus *prometheus_new(void);    /* NULL when out of memory */
void prometheus_free(struct prometheus *p); /* accepts NULL */

/*
 * Adds the lines of a part, "daemon" or "database". "received.cycles 7" of the
 * daemon becomes cpi_daemon_received_total{event="cycles"} 7. What comes twice is
 * added up.
 */
void prometheus_put(struct prometheus *p, const char *part, const char *lines);

/* Appends all of it, each family with its help and type. 0 or -ENOMEM, of any call. */
int prometheus_format(struct prometheus *p, struct buf *out);

#endif
