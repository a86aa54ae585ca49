/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - reference-counted texts, each stored once
 */
#ifndef CPI_DAEMON_NAMES_H
#define CPI_DAEMON_NAMES_H

#include <stddef.h>

#include "base/hmap.h"

#define NAMES_MAX_BYTES (16u << 20)

struct name {
	struct hnode node;
	struct names *table;
	unsigned int nr_users;
	char text[];
};

/* Starts as { 0 }. Call names_fini() only after every name was released. */
struct names {
	struct hmap by_text;
	size_t bytes;
};

/*
 * Returns the name with this text and takes a reference, which the caller releases with
 * name_put(). NULL if there is no memory, or no room within NAMES_MAX_BYTES.
 */
struct name *names_get(struct names *table, const char *text);
void names_fini(struct names *table);

/* Take and release a reference. Both accept NULL; name_hold() returns n. */
struct name *name_hold(struct name *n);
void name_put(struct name *n);

#endif
