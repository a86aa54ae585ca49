/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saver.h - a thread that copies the database (db/store/save.h), which may take minutes
 */
#ifndef CPI_DAEMON_SAVER_H
#define CPI_DAEMON_SAVER_H

#include <stdbool.h>

#include "db/core/db.h"

struct saver;

/*
 * Starts to copy db to path. db must stay open until saver_end(). Returns 0 or -errno.
 */
int saver_start(struct db *db, const char *path, struct saver **out);

/* Whether the copy is done, so that saver_end() will not wait. */
bool saver_is_done(const struct saver *s);

/* Waits for the end of the copy and frees s. Returns the result of save_copy(). */
int saver_end(struct saver *s);

#endif
