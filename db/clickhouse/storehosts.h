/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storehosts.h - the machines of a store, with the samples that each sent and lost
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
	uint64_t one_in;         /* of its newest epoch: see store_8.sql */
	uint64_t rejected, rejected_rows; /* epochs that 'cpi fleet roll' rejected */
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
 * Reads the machines that sent an epoch of the choice; the numbers of a machine are
 * those of these epochs. Of a machine whose epochs were all rejected, only its name,
 * times, CPUs and what was rejected are known. The store adds them up. Returns 0, or an
 * error of store.h, logged; then there is nothing to free.
 */
int storehosts_read(const char *url, const struct store_choice *choice,
		    struct storehosts *out);
void storehosts_fini(struct storehosts *h);

#endif
