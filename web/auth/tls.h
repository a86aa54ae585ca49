/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls.h - the certificate of the server, and those of clients
 */
#ifndef CPI_WEB_TLS_H
#define CPI_WEB_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Identifies a version of a file. */
struct tls_stamp {
	uint64_t inode, size, mtime_ns;
};

/* Contents of PEM files. */
struct tls {
	struct buf certificate, key;
	struct buf ca; /* the CA of clients' certificates; empty: clients need none */
	struct tls_stamp
		stamp[3]; /* versions of the files, taken before they were read */
};

/* File names; ca may be NULL. */
struct tls_files {
	const char *certificate, *key, *ca;
};

/*
 * Reads the files, and checks that certificate and key belong together. Returns 0 or a
 * negative error, logged. For an expired certificate it only warns. Call tls_fini()
 * also after a failure.
 */
int tls_load(struct tls *t, const struct tls_files *files);
void tls_fini(struct tls *t);

/* Whether a file has changed since it was read. */
bool tls_has_changed(const struct tls *t, const struct tls_files *files);

/*
 * Whether the client of a session (a gnutls_session_t) has shown a certificate for
 * clients that the CA signed, and that is valid now.
 */
bool tls_knows_client(void *session);

#endif
