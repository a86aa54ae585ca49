/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote.h - debug files, programs and sources from debuginfod servers
 *
 * No server is asked unless the user requested it. A reply is not trusted: the caller
 * checks the build id of a file. The first failure other than "not found" (no
 * connection, too slow, Ctrl-C) is logged. After it no server is asked again.
 */
#ifndef CPI_REPORT_REMOTE_H
#define CPI_REPORT_REMOTE_H

#include <stddef.h>
#include <stdint.h>

struct remote;

/*
 * Prepares requests to the servers in $DEBUGINFOD_URLS. Returns 0; -ENODATA if none are
 * set or the client was not built in (logged); or -ENOMEM.
 */
int remote_open(struct remote **out);
void remote_close(struct remote *r); /* accepts NULL */

/*
 * Each returns a descriptor for reading, -ENOENT, or another -errno. r: struct remote.
 */
int remote_debug_file(void *r, const uint8_t *id, size_t id_size);
int remote_program(struct remote *r, const uint8_t *id, size_t id_size);
int remote_source(struct remote *r, const uint8_t *id, size_t id_size,
		  const char *path);

#endif
