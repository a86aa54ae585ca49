/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls.h - the certificate of the server, and those of clients
 */
#ifndef CPI_WEB_TLS_H
#define CPI_WEB_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* What tells whether a file is the same as before. */
struct tls_stamp {
	uint64_t inode, size, mtime_ns;
};

/* Contents of PEM files. */
struct tls {
	struct buf certificate, key;
	struct buf ca;             /* of clients; empty: none are asked for */
	struct tls_stamp stamp[3]; /* of the files, before they were read */
};

/* Files; ca may be NULL. */
struct tls_files {
	const char *certificate, *key, *ca;
};

/*
 * Reads the files and checks that they fit. Returns 0 or a negative error; logged. A
 * certificate that has expired is only warned of. tls_fini() is due in each case.
 */
int tls_load(struct tls *t, const struct tls_files *files);
void tls_fini(struct tls *t);

/* Whether a file is not the one that was read. */
bool tls_has_changed(const struct tls *t, const struct tls_files *files);

/*
 * Whether the client of a session (a gnutls_session_t) has shown a certificate for
 * clients that the CA signed, and that is valid now.
 */
bool tls_knows_client(void *session);

#endif
