/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * save.h - a copy of an open database, wherever its file is by now
 */
#ifndef CPI_DB_SAVE_H
#define CPI_DB_SAVE_H

#include "db/core/db.h"

/*
 * Copies all that db holds to a new file at path, mode 0640, which appears there whole
 * and synced or not at all. A write to db during the copy may or may not be in the
 * copy. May be called from another thread than the one that uses db; that thread waits
 * for one step of the copy at most, not for all of it. Reads deleted files, too. 0,
 * -errno or -CPI_E…, not logged; -EEXIST where a file is at path.
 */
int save_copy(struct db *db, const char *path);

#endif
