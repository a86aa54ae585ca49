/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_ship.c - does a fleet's store get the epochs? As the metrics of cpi-ship say,
 *		   else its configuration
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "service/shipconfig.h"
#include "tools/doctor/doctor.h"

#define ENABLED "/etc/systemd/system/multi-user.target.wants/cpi-ship.service"
#define FOLDER  "/run/cpi-ship" /* the unit's RuntimeDirectory=: only while it runs */
#define METRICS FOLDER "/metrics.prom" /* unless metrics-file= names another file */

#define LATE_S   120  /* it writes them four times a minute */
#define BEHIND_S 3600 /* as the alert has it */

/* The value of a metric without labels, or 0. */
static double metric(struct buf *text, const char *name)
{
	const size_t len = strlen(name);

	for (const char *line = buf_str(text); line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ' ')
			return strtod(line + len, NULL);
	}
	return 0;
}

static void check_metrics(struct doctor *d, struct buf *text, double now)
{
	const double dropped = metric(text, "cpi_ship_flushes_dropped_total");
	const double behind = now - metric(text, "cpi_ship_level_timestamp_seconds");
	const double started = metric(text, "cpi_ship_start_timestamp_seconds");
	const double success = metric(text, "cpi_ship_last_success_timestamp_seconds");
	char what[160];

	if (metric(text, "cpi_ship_store_failing")) {
		snprintf(what, sizeof(what), "for %.0f s the store has taken nothing",
			 now - (success ? success : started));
		doctor_add(d, "fleet", DOCTOR_PROBLEM, what,
			   "Epochs wait in this machine's database until the store is "
			   "back, as long as cpid retains them.",
			   doctor_by_systemd(d, "journalctl -u cpi-ship -n 20",
					     "read the messages of cpi-ship"));
	} else if (behind > BEHIND_S) {
		snprintf(what, sizeof(what),
			 "complete epochs have waited for %.1f hours", behind / 3600);
		doctor_add(d, "fleet", DOCTOR_NOTE, what,
			   "Reports of the fleet lack this machine's newest epochs.",
			   "raise 'rate', or the percentage in 'budget' (2%,450K), in"
			   " /etc/cpi/cpi-ship.conf");
	} else if (dropped > 0) {
		snprintf(what, sizeof(what), "%.0f flushes never reached the store",
			 dropped);
		doctor_add(d, "fleet", DOCTOR_NOTE, what,
			   "cpid had removed them, or they were damaged, before they "
			   "were sent.",
			   "keep epochs longer: 'retain' in /etc/cpi/cpid.conf");
	} else {
		doctor_ok(d, "fleet", "cpi-ship runs, and the store answers");
	}
}

/* What the files say of a cpi-ship that neither runs nor is enabled. */
static void check_config(struct doctor *d)
{
	static const char why[] = "The store gets nothing of this machine.";
	struct shipconfig_store store = { 0 };
	char path[1024];

	snprintf(path, sizeof(path), "%s" SHIPCONFIG_FILE, d->root);
	if (shipconfig_read(path, &store))
		doctor_add(d, "fleet", DOCTOR_NOTE,
			   "the configuration of cpi-ship cannot be read",
			   "So it is not known whether this machine is in a fleet.",
			   "cpi-ship --check-config");
	else if (store.url && doctor_has_systemd(d))
		doctor_add(d, "fleet", DOCTOR_PROBLEM,
			   "cpi-ship has a store, but is not enabled", why,
			   "systemctl enable --now cpi-ship");
	else if (store.url)
		doctor_add(d, "fleet", DOCTOR_NOTE,
			   "cpi-ship has a store, but does not run here", why,
			   "start cpi-ship");
	else
		doctor_ok(d, "fleet",
			  "cpi-ship is not set up: this machine is in none");
	shipconfig_fini(&store);
}

void doctor_check_ship(struct doctor *d)
{
	struct buf text = { 0 };
	struct stat st;
	char path[1024];

	snprintf(path, sizeof(path), "%s" METRICS, d->root);
	if (!stat(path, &st) && !doctor_read(d, METRICS, &text)) {
		if (st.st_mtime + LATE_S < time(NULL))
			doctor_add(d, "fleet", DOCTOR_PROBLEM,
				   "cpi-ship was killed, or hangs",
				   "The store gets nothing of this machine.",
				   doctor_by_systemd(d, "systemctl status cpi-ship",
						     "start cpi-ship again"));
		else
			check_metrics(d, &text, (double)time(NULL));
	} else if (doctor_exists(d, FOLDER)) {
		doctor_add(d, "fleet", DOCTOR_NOTE,
			   "cpi-ship runs, but " METRICS " is not there",
			   "Its metrics show whether the store gets this machine's "
			   "epochs.",
			   "read the file that 'metrics-file' in "
			   "/etc/cpi/cpi-ship.conf names");
	} else if (doctor_has_systemd(d) && doctor_is_link(d, ENABLED)) {
		doctor_add(d, "fleet", DOCTOR_PROBLEM,
			   "cpi-ship is enabled, but does not run",
			   "The store gets nothing of this machine.",
			   "cpi-ship --check-config && systemctl status cpi-ship");
	} else {
		check_config(d);
	}
	buf_fini(&text);
}
