/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announcement.h - parses the datagrams of abi/announce.h, which may be hostile
 */
#ifndef CPI_DAEMON_ANNOUNCEMENT_H
#define CPI_DAEMON_ANNOUNCEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/announce.h"

/* A loaded or unloaded object. Its pointers point into the datagram. */
struct announcement {
	enum cpi_announce_what what;
	uint64_t base;
	int nr_segments; /* at least one */
	struct cpi_announce_segment segments[CPI_ANNOUNCE_MAX_SEGMENTS];
	const uint8_t *build_id;
	size_t build_id_size;
	const char *path; /* path_size arbitrary bytes, no NUL at the end */
	size_t path_size;
};

struct announcements {
	const char *at;
	size_t left;
	bool is_begin; /* this is the program's first datagram */
};

/* Begins to parse size bytes at data, which the caller keeps. Returns 0 or -EBADMSG. */
int announcements_open(const void *data, size_t size, struct announcements *out);

/* Returns 1 and the next announcement, 0 at the end, or -EBADMSG; then parsing ends. */
int announcements_next(struct announcements *s, struct announcement *out);

#endif
