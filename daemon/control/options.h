/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - cpid's options: from its command line and its configuration files, which
 * are those of service/options.h with the section [cpid]
 */
#ifndef CPI_DAEMON_OPTIONS_H
#define CPI_DAEMON_OPTIONS_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/session/session.h"
#include "service/options.h"

#define CPI_CONFIG_FILE "/etc/cpi/cpid.conf"

struct options {
	bool check; /* only check the options */
	struct session_config session;
	const char *socket;
	const char *metrics; /* file for node_exporter, NULL: none */
	const char *log;     /* NULL: stderr */
	const char *group;   /* NULL: "cpi", if there is such a group */
	const char *user;    /* NULL: stay who started it */
	bool verbose;
	bool has_by; /* --by was given: it replaces the default */
	char *event_names[SESSION_MAX_EVENTS]; /* what session.events points to */
	struct service_settings settings;      /* whose values the strings above are */
	struct buf why; /* what a refused value is wrong in; may be empty */
};

/* The defaults. */
void options_init(struct options *o);

/* As service_options_read(). options_fini() is due in each case. */
int options_parse(int argc, char **argv, struct options *o);
void options_fini(struct options *o);

/* For the functions of service/options.h. */
const struct service_program *options_program(void);

/*
 * Takes the values that can change while cpid runs, and their places, from now, which
 * is left to be freed. 0; or -ENOMEM, and o has part of them.
 */
int options_take(struct options *o, struct options *now);

#endif
