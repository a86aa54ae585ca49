/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * default_db.h - which database a report reads without --db
 *
 * If $CPI_DB is set, that database. Else the one that was written last: cpi.db of the
 * current folder, which 'cpi record' writes, or the daemon's database.
 */
#ifndef CPI_REPORT_DEFAULT_DB_H
#define CPI_REPORT_DEFAULT_DB_H

/* The database that 'cpi record' and 'cpi import' write, in the current folder. */
#define SELECT_LOCAL_DB "cpi.db"

/* Returns local or daemons, the path of the file that was written last; daemons if
 * neither exists. */
const char *select_newer_db(const char *local, const char *daemons);

/* Returns the default. Logs the choice if the current folder has a database. */
const char *select_default_db(void);

#endif
