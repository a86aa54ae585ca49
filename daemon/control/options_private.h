/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_private.h - what options.c, options_read.c and options_reload.c share
 */
#ifndef CPI_DAEMON_OPTIONS_PRIVATE_H
#define CPI_DAEMON_OPTIONS_PRIVATE_H

#include <stddef.h>

#include "daemon/control/options.h"

enum option_flags {
	OPTION_LIST = 1,    /* its values add up; in a file an empty one removes them */
	OPTION_ON_LINE = 2, /* of the command line only */
	OPTION_RELOADS = 4, /* can change while cpid runs */
};

struct option_record {
	const char *name;
	char letter;          /* 0: none */
	const char *arg;      /* NULL: takes none on the command line */
	const char *fallback; /* the text that means the default; NULL: there is none */
	unsigned int flags;
	/*
	 * Takes a value, which has to stay, and is "" if arg is NULL. Returns 0,
	 * -ENOMEM or -EINVAL, and may then explain it in o->why.
	 */
	int (*set)(struct options *o, const char *text);
	const char *help;
};

/* All options, in the order of the help. */
const struct option_record *option_records(size_t *nr);

/* The defaults. */
void options_init(struct options *o);

/*
 * Whether the settings at i is in force: the command line comes before files; of a
 * list, all values count, else the last one.
 */
bool settings_in_force(const struct settings *s, size_t i);

#endif
