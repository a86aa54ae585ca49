/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - texts that many share, and that go when the last one lets go
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

/* Begins as { 0 }, and ends when every name has been let go. */
struct names {
	struct hmap by_text;
	size_t bytes;
};

/*
 * The name with this text, which the caller lets go by name_put(). NULL when there is
 * no memory, or no room in NAMES_MAX_BYTES.
 */
struct name *names_get(struct names *table, const char *text);
void names_fini(struct names *table);

/* One user more, or less. Both accept NULL. */
struct name *name_hold(struct name *n);
void name_put(struct name *n);

#endif
