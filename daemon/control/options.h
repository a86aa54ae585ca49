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
	const char *user;    /* NULL: do not change the user */
	bool verbose;
	bool has_by; /* --by was given: it replaces the default */
	char *event_names[SESSION_MAX_EVENTS]; /* session.events points to them */
	struct service_settings settings;      /* owns the strings above */
	struct buf why; /* why a value was refused; may be empty */
};

/* The defaults. */
void options_init(struct options *o);

/* Like service_options_read(). Call options_fini() also after a failure. */
int options_parse(int argc, char **argv, struct options *o);
void options_fini(struct options *o);

/* For the functions of service/options.h. */
const struct service_program *options_program(void);

/*
 * Takes from now the values that can change while cpid runs, and where they were set;
 * the caller still frees now. Returns 0; or -ENOMEM, and then o has only a part of
 * them.
 */
int options_take(struct options *o, struct options *now);

#endif
