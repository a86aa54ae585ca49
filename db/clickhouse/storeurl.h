/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storeurl.h - how a store is named: one text, as --db and $CPI_DB take it
 *
 *	clickhouse://HOST[:PORT][,HOST[:PORT]...]/DATABASE[?NAME=VALUE[&NAME=VALUE...]]
 *
 * clickhouses:// is the same by TLS. Several hosts are servers of one store; one that
 * does not answer is passed over. The names:
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
	char *text;                           /* what the other members point into */
	const char *host[STOREURL_MAX_HOSTS]; /* "name:port" */
	int nr_hosts;
	bool tls;
	const char *database; /* letters, digits and '_' */
	const char *user, *password_file, *ca, *cert, *key; /* or NULL */
};

/* Whether a text names a store, and no file. */
bool storeurl_is(const char *text);

/*
 * Takes a text apart. 0; -EINVAL with the reason, a sentence without a full stop, in
 * *why; or -ENOMEM. storeurl_fini() frees it.
 */
int storeurl_parse(const char *text, struct storeurl *out, struct buf *why);
void storeurl_fini(struct storeurl *u);

#endif
