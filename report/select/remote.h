/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote.h - debug files, programs and sources from debuginfod servers
 *
 * No server is asked unless the user requested it. A reply is not trusted: the
 * caller checks the build id of a file. If a request fails for another reason
 * than "not found" (there is no connection, it is too slow, or the user pressed
 * Ctrl-C), that is logged, and no server is asked again.
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
 * Each returns a descriptor for reading, -ENOENT, or another -errno. r is a
 * struct remote; remote_debug_file() takes a void * because struct image_search
 * calls it.
 */
int remote_debug_file(void *r, const uint8_t *id, size_t id_size);
int remote_program(struct remote *r, const uint8_t *id, size_t id_size);
int remote_source(struct remote *r, const uint8_t *id, size_t id_size,
		  const char *path);

#endif
