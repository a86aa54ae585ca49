/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_text.h - what windows saw of a load's or store's addresses, as text
 */
#ifndef CPI_REPORT_DATA_TEXT_H
#define CPI_REPORT_DATA_TEXT_H

#include <stdbool.h>

#include "analysis/data/data_model.h"
#include "base/buf.h"

/*
 * ", misses 20 to 45 %, beyond L2, stride 64 over 38 MB". tlb: of TLBs, not of caches.
 * chases: the load's address is a value that the same load returned the time before.
 */
void data_put_text(const struct data_insn *d, bool tlb, bool chases, struct buf *out);

/*
 * What usually makes such misses fewer or cheaper: "huge pages". NULL if few of its
 * executions are expected to miss, or to wait for a store of a part of its bytes. tlb
 * and chases are as above.
 */
const char *data_usual_help(const struct data_insn *d, bool tlb, bool chases);

/* "l1", "l2", "l3", "tlb1", "tlb2" */
const char *data_level_name(enum data_level level);

#endif
