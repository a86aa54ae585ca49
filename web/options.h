/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - options of cpi-web: from files, and from the command line
 */
#ifndef CPI_WEB_OPTIONS_H
#define CPI_WEB_OPTIONS_H

#include <stdbool.h>

#include "service/options.h"
#include "web/server.h"

#define WEB_CONFIG_FILE "/etc/cpi/cpi-web.conf"

struct web_options {
	struct server_config server;
	const char *listen; /* NULL: sockets of the service manager, or the default */
	const char *passwords;        /* a file, or NULL */
	struct tls_files tls;         /* certificate and key, or neither */
	bool open;                    /* show the page in a browser */
	struct service_value *values; /* of files; the strings above may be theirs */
};

/*
 * Fills *o: from its configuration files, which are those of service/unitfile.h with
 * the section [cpi-web], then from the command line, which replaces them; with
 * defaults where neither says anything. Returns 0; -EINVAL after saying what is
 * wrong; 1 after printing the help or the version. web_options_fini() is due in each
 * case.
 */
int web_options_read(int argc, char **argv, struct web_options *o);
void web_options_fini(struct web_options *o);

#endif
