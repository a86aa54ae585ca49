/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * movedtext.h - code that a program has copied to anonymous memory
 *
 * Some programs copy their text to huge pages at the same address. The new mapping has
 * no file, but its code is still the file's.
 */
#ifndef CPI_DAEMON_MOVEDTEXT_H
#define CPI_DAEMON_MOVEDTEXT_H

#include <stdbool.h>

#include "daemon/procmap/procmap.h"

/*
 * Whether the anonymous memory that tgid mapped at when holds the bytes of the file
 * that was mapped there before. Compares a few places, while the process lives.
 */
bool movedtext_check(struct procmap *pm, struct images *im, pid_t tgid,
		     const struct range *memory, uint64_t when);

#endif
