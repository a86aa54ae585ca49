/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announcement.h - reads the datagrams of abi/announce.h, whoever made them
 */
#ifndef CPI_DAEMON_ANNOUNCEMENT_H
#define CPI_DAEMON_ANNOUNCEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/announce.h"

/* An object was loaded or unloaded. What it points to is the datagram's. */
struct announcement {
	enum cpi_announce_what what;
	uint64_t base;
	int nr_segments; /* at least one */
	struct cpi_announce_segment segments[CPI_ANNOUNCE_MAX_SEGMENTS];
	const uint8_t *build_id;
	size_t build_id_size;
	const char *path; /* path_size bytes without a NUL, of any kind */
	size_t path_size;
};

struct announcements {
	const char *at;
	size_t left;
	bool is_begin; /* the program's first */
};

/* Begins with size bytes at data, which stay the caller's. 0 or -EBADMSG. */
int announcements_open(const void *data, size_t size, struct announcements *out);

/* 1 with the next one, 0 when there is none, -EBADMSG: nothing more can be read. */
int announcements_next(struct announcements *s, struct announcement *out);

#endif
