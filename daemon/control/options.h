/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - cpid's command line
 */
#ifndef CPI_DAEMON_OPTIONS_H
#define CPI_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "daemon/session/session.h"

enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION };

struct options {
	enum options_action action;
	struct session_config session;
	const char *socket;
	const char *metrics; /* file for node_exporter, NULL: none */
	const char *log;     /* NULL: stderr */
	const char *group;   /* NULL: "cpi", if there is such a group */
	const char *user;    /* NULL: stay who started it */
	bool verbose;
	bool has_by; /* --by was given: it replaces the default */
	char *event_names[SESSION_MAX_EVENTS]; /* what session.events points to */
};

/*
 * Reads the command line. Other strings than the events' stay argv's. Returns
 * 0, -EINVAL after having said on stderr what is wrong with it, or -ENOMEM;
 * options_fini() is due in each case.
 */
int options_parse(int argc, char **argv, struct options *o);
void options_fini(struct options *o);

/* Writes what --help shows. */
void options_help(FILE *to);

#endif
