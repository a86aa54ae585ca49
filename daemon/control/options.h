/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - cpid's options: from its command line and its configuration files
 *
 * Files are those of service/unitfile.h, with the section [cpid]; a setting has the
 * name of the long option. First comes FILE, then FILE.d/NAME.conf in the order of
 * their names, and a later value replaces an earlier one. What the command line says
 * replaces both.
 */
#ifndef CPI_DAEMON_OPTIONS_H
#define CPI_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "service/unitfile.h"
#include "daemon/session/session.h"

#define CPI_CONFIG_FILE "/etc/cpi/cpid.conf"

enum options_action {
	OPTIONS_RUN,
	OPTIONS_CHECK_CONFIG,
	OPTIONS_HELP,
	OPTIONS_VERSION,
};

/* One value of an option, and where it was given. */
struct setting {
	size_t option; /* its record */
	char *value;
	char *file; /* NULL: the command line */
	struct unitfile_place at;
};

/* In the order of reading. */
struct settings {
	struct setting *list;
	size_t nr;
};

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
	struct settings settings;              /* whose values the strings above are */
	struct buf why; /* what a refused value is wrong in; may be empty */
};

/*
 * Reads the command line, and the files that it or $CPI_CONFIG names; CPI_CONFIG_FILE
 * may be missing. Returns 0; -EINVAL, -ENOMEM or another -errno after having said on
 * stderr what is wrong, and where. options_fini() is due in each case.
 */
int options_parse(int argc, char **argv, struct options *o);
void options_fini(struct options *o);

/* Writes what --help shows. */
void options_help(FILE *to);

/* from is "FILE:LINE", "command line" or "default"; all are valid during the call. */
typedef void (*options_fn)(void *ctx, const char *name, const char *value,
			   const char *from);

/* Calls fn for each option that has a value, in the order of the help. 0 or -ENOMEM. */
int options_each(const struct options *o, options_fn fn, void *ctx);

/*
 * Appends the names of options whose values differ, each with a space in front: to
 * changed if they can change while cpid runs, to left if they need a restart. 0 or
 * -ENOMEM.
 */
int options_compare(const struct options *o, const struct options *now,
		    struct buf *changed, struct buf *left);

/*
 * Takes the values that can change while cpid runs, and their places, from now, which
 * is left to be freed. 0; or -ENOMEM, and o has part of them.
 */
int options_take(struct options *o, struct options *now);

#endif
