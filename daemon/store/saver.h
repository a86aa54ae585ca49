/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saver.h - a thread that copies the database (db/store/save.h), which may take minutes
 */
#ifndef CPI_DAEMON_SAVER_H
#define CPI_DAEMON_SAVER_H

#include <stdbool.h>

#include "db/core/db.h"

struct saver;

/* db must stay until saver_end(). 0 or -errno. */
int saver_start(struct db *db, const char *path, struct saver **out);

/* Whether it is done, so that saver_end() does not wait. */
bool saver_is_done(const struct saver *s);

/* Waits for its end and frees it; what save_copy() returned. */
int saver_end(struct saver *s);

#endif
