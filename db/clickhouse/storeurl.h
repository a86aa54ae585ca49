/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storeurl.h - parses the URL of a store, as given to --db or in $CPI_DB
 *
 *	clickhouse://HOST[:PORT][,HOST[:PORT]...]/DATABASE[?NAME=VALUE[&NAME=VALUE...]]
 *
 * clickhouses:// is the same with TLS. Without PORT it is 80, or 443 with TLS;
 * ClickHouse's defaults are 8123 and 8443. Several hosts are servers of one store; a
 * server that does not answer is skipped. The names:
 *	user		the user; without one "default"
 *	password-file	a file with the password, without rights for others
 *	ca, cert, key	PEM files: who may have signed the server's certificate, and the
 *			client's own
 */
#ifndef CPI_DB_STOREURL_H
#define CPI_DB_STOREURL_H

#include <stdbool.h>

#include "base/buf.h"

#define STOREURL_MAX_HOSTS 16

struct storeurl {
	char *text;                           /* the other members point into it */
	const char *host[STOREURL_MAX_HOSTS]; /* "name:port" */
	int nr_hosts;
	bool tls;
	const char *database; /* letters, digits and '_' */
	const char *user, *password_file, *ca, *cert, *key; /* or NULL */
};

/* Whether a text is the URL of a store, not a file name. */
bool storeurl_is(const char *text);

/*
 * Parses a URL. Returns 0; -EINVAL, and the reason in *why, a sentence without a full
 * stop; or -ENOMEM. storeurl_fini() frees *out.
 */
int storeurl_parse(const char *text, struct storeurl *out, struct buf *why);
void storeurl_fini(struct storeurl *u);

#endif
