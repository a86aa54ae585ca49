/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prometheus.h - numbers in Prometheus's text format, as its node_exporter reads
 * files of
 */
#ifndef CPI_TOOLS_PROMETHEUS_H
#define CPI_TOOLS_PROMETHEUS_H

struct prometheus;

struct prometheus *prometheus_new(void);    /* NULL when out of memory */
void prometheus_free(struct prometheus *p); /* accepts NULL */

/*
 * Adds a line of cpi status. "received.cycles" of the part "daemon" becomes
 * cpi_daemon_received_total{event="cycles"}. What comes twice is added up; values
 * that are no numbers are left out.
 */
void prometheus_put(struct prometheus *p, const char *part, const char *name,
		    const char *value);

/* Prints all of it, each metric with its type. 0 or -ENOMEM, of any call. */
int prometheus_print(struct prometheus *p);

#endif
