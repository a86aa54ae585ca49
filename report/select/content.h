/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.h - a hash of the data that a report of some epochs depends on
 *
 * If two requests have the same options and the same hash, their reports are equal,
 * unless debug files or source files have changed: the hash does not cover these. A
 * report of closed epochs keeps its hash when other epochs are added to the database.
 */
#ifndef CPI_REPORT_CONTENT_H
#define CPI_REPORT_CONTENT_H

#include "report/select/select.h"

#define CONTENT_NAME_SIZE 65

/*
 * Writes the hash in hexadecimal. It covers the epochs that specs[0..nr) select, or
 * those of --epoch if nr is 0: their lengths, labels, flushes, gaps and marks, the
 * captured data of their images, and the state of the images' files. Does not ask cpid
 * to store. Returns 0 or an error, which is logged.
 */
int content_name(const struct select_request *req, char *const *specs, size_t nr,
		 char out[CONTENT_NAME_SIZE]);

/*
 * Writes the hash of an open selection, without its request. Returns 0 or an error,
 * which is not logged.
 */
#define CONTENT_SIZE 32
int content_hash(const struct selection *sel, uint8_t out[CONTENT_SIZE]);

#endif
