/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storehosts.h - the machines of a store: what each sent, and what it lost
 */
#ifndef CPI_DB_STOREHOSTS_H
#define CPI_DB_STOREHOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "db/clickhouse/storechoice.h"

struct storehost {
	char *name;
	uint64_t nr_epochs;
	uint64_t from_ns, to_ns; /* of the first and the last epoch */
	uint64_t received, lost; /* samples */
	uint64_t dropped;        /* flushes that were removed before they were sent */
	/* of the last epoch: */
	char *kernel, *version; /* the kernel's; cpi-ship's */
	char *cluster, *machine, *release;
	uint64_t nr_cpus;
};

struct storehosts {
	struct storehost *host; /* by name */
	size_t nr;
};

/*
 * The machines that sent an epoch of the choice, and of each only these epochs. The
 * store adds up. 0, or an error of store.h, logged; then there is nothing to free.
 */
int storehosts_read(const char *url, const struct store_choice *choice,
		    struct storehosts *out);
void storehosts_fini(struct storehosts *h);

#endif
