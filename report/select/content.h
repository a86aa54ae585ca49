/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.h - a short name of what a selection's epochs contain
 *
 * A report of closed epochs is the same however often the database has been written to
 * meanwhile. Equal names mean equal reports, for equal options.
 */
#ifndef CPI_REPORT_CONTENT_H
#define CPI_REPORT_CONTENT_H

#include "report/select/select.h"

#define CONTENT_NAME_SIZE 65

/*
 * Writes a hash, in hexadecimal, of the epochs that a request's --epoch names, or that
 * each of the texts of specs names if it has any: their lengths, labels, flushes, gaps
 * and marks, what was captured of their images, and the images' files as they are now.
 * cpid is not asked to store first. Returns 0 or an error; logged.
 */
int content_name(const struct select_request *req, char *const *specs, size_t nr,
		 char out[CONTENT_NAME_SIZE]);

#endif
