/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim.h - one collector for each database
 *
 * The claim is a flock() on a file of its own, DATABASE-lock: closing any
 * descriptor of the database itself would drop SQLite's locks on it.
 */
#ifndef CPI_DB_CLAIM_H
#define CPI_DB_CLAIM_H

/*
 * Claims the database at path for this process until *fd is closed. Returns 0,
 * -CPI_EINUSE or -errno, both logged.
 */
int claim_take(const char *path, int *fd);

#endif
