/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * default_db.h - which database is read when none is named
 *
 * $CPI_DB, if it is set. Else what 'cpi record' left in the current folder or the
 * daemon's database, whichever was written last.
 */
#ifndef CPI_REPORT_DEFAULT_DB_H
#define CPI_REPORT_DEFAULT_DB_H

/* Where 'cpi record' and 'cpi import' write, and reports look first. */
#define SELECT_LOCAL_DB "cpi.db"

/* The newer of two files, which need not be there; of none, daemons. */
const char *select_newer_db(const char *local, const char *daemons);

/* The default; says which where a database lies in the current folder. */
const char *select_default_db(void);

#endif
