/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storesettings.h - the identity of a store, and its limits
 */
#ifndef CPI_DB_CLICKHOUSE_STORESETTINGS_H
#define CPI_DB_CLICKHOUSE_STORESETTINGS_H

#include <stdint.h>

#include "db/clickhouse/store.h"

#define STORE_QUOTA "quota" /* the most rows of profiles of a host and day */
#define STORE_KEEP  "keep"  /* days */

struct store_settings {
	uint64_t id;          /* random; another store has another one */
	uint64_t now_s;       /* the store's clock */
	uint64_t quota, keep; /* 0: no limit */
};

/* Both return 0, or an error of store.h, logged. */
int store_settings_read(struct ch_store *s, struct store_settings *out);
int store_settings_set(struct ch_store *s, const char *name, uint64_t value);

/* The store's clock less the days that it keeps, in seconds; 0 if it keeps all. */
uint64_t store_settings_oldest_s(const struct store_settings *s);

#endif
