/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storereject.h - rejects shipments whose rows cannot be right, or are too many
 *
 * A machine that may insert can insert anything. So the store's owner checks what came:
 *
 *	rows	the shipment has more rows of profiles than its row in table epoch says
 *	ledger	its received samples ≠ stored + lost samples
 *	quota	with it, the host has more rows of that day than the store's quota
 *
 * A rejected shipment gets a row in table rejected, then one in table void, so that it
 * does not count. The machine does not send it again.
 */
#ifndef CPI_DB_CLICKHOUSE_STOREREJECT_H
#define CPI_DB_CLICKHOUSE_STOREREJECT_H

#include <stddef.h>

#include "db/clickhouse/storesettings.h"

struct store_rejected {
	uint64_t nr; /* shipments */
	uint64_t nr_rows;
};

/*
 * Checks the hours for which sums are due (daysums.h), and shipments that claim to be
 * of the future; the ledger and the quota of all shipments. Adds to *out what it
 * rejected. Returns 0, or an error of store.h, logged.
 */
int store_reject(struct ch_store *s, const struct store_settings *settings,
		 struct store_rejected *out);

#endif
