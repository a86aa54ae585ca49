/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of cpi-web
 */
#ifndef CPI_WEB_OPTIONS_H
#define CPI_WEB_OPTIONS_H

#include <stdbool.h>

#include "web/server.h"

struct web_options {
	struct server_config server;
	const char *listen; /* NULL: sockets of the service manager, or the default */
	bool open;          /* show the page in a browser */
};

/*
 * Fills *o, with defaults where an option is not given. Returns 0; -EINVAL after saying
 * what is wrong; 1 after printing the help or the version.
 */
int web_options_read(int argc, char **argv, struct web_options *o);

#endif
