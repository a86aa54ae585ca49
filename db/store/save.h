/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * save.h - copies an open database, even if its file was deleted
 */
#ifndef CPI_DB_SAVE_H
#define CPI_DB_SAVE_H

#include "db/core/db.h"

/*
 * Copies db to a new file at path with mode 0640. The file appears there complete and
 * synced, or not at all. A write to db during the copy may or may not be in the copy.
 * This may be called from another thread than the one that uses db; that thread waits
 * for at most one step of the copy. Returns 0, -errno or -CPI_E… (not logged); -EEXIST
 * if there is a file at path.
 */
int save_copy(struct db *db, const char *path);

#endif
