/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * movedtext.h - a program's code that it moved into memory of its own
 *
 * Some programs copy their text to huge pages, at the address where it was. Then it has
 * no file any more, and is the same nevertheless.
 */
#ifndef CPI_DAEMON_MOVEDTEXT_H
#define CPI_DAEMON_MOVEDTEXT_H

#include <stdbool.h>

#include "daemon/procmap/procmap.h"

/*
 * Whether memory without a file, which tgid mapped at when, holds what the file has
 * that was mapped there before. It is compared in a few places, while the process
 * lives.
 */
bool movedtext_check(struct procmap *pm, struct images *im, pid_t tgid,
		     const struct range *memory, uint64_t when);

#endif
