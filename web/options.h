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
	struct tls_files tls;             /* certificate and key, or both NULL */
	bool check;                       /* only check the options */
	bool open;                        /* show the page in a browser */
	struct service_settings settings; /* owns the strings above */
};

/*
 * Fills in *o with service_options_read(), from the section [cpi-web]. Call
 * web_options_fini() also after a failure.
 */
int web_options_read(int argc, char **argv, struct web_options *o);
void web_options_fini(struct web_options *o);

/* For the functions of service/options.h. */
const struct service_program *web_options_program(void);

/*
 * Copies from *now into *o the values that can change while the server runs. The caller
 * still calls web_options_fini() for *now. Returns 0, or a negative error, and then
 * some strings of o are invalid.
 */
int web_options_take(struct web_options *o, struct web_options *now);

#endif
