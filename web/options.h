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
	const char *passwords;            /* a file, or NULL */
	struct tls_files tls;             /* certificate and key, or neither */
	bool check;                       /* only check the options */
	bool open;                        /* show the page in a browser */
	struct service_settings settings; /* whose values the strings above are */
};

/*
 * Fills *o, as service_options_read() does with the section [cpi-web].
 * web_options_fini() is due in each case.
 */
int web_options_read(int argc, char **argv, struct web_options *o);
void web_options_fini(struct web_options *o);

/* For the functions of service/options.h. */
const struct service_program *web_options_program(void);

/*
 * Takes the values that can change while it runs from now, which is left to be freed. 0
 * or a negative error; then some strings of o are no longer there.
 */
int web_options_take(struct web_options *o, struct web_options *now);

#endif
