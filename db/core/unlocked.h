/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unlocked.h - whether a database that is read without locks has been written meanwhile
 *
 * A reader of a database in WAL mode needs its -wal and -shm files. If they are
 * missing, and the reader cannot make them, it can still read the file: it has all
 * content then. But no lock keeps a writer away. A writer first makes these two files,
 * and later changes the file. So the reader compares both before it uses what it has
 * read.
 */
#ifndef CPI_DB_UNLOCKED_H
#define CPI_DB_UNLOCKED_H

#include <sys/stat.h>

/*
 * Notes the state of a database that has no -shm and no -journal file, and either no
 * -wal file or an empty one. Waits some milliseconds if it was written just now, so
 * that its time tells another write apart. Returns 0; -EACCES if it cannot be read
 * without locks; or -errno.
 */
int unlocked_note(const char *path, struct stat *noted);

/* Returns 0 if the database was not written since then, -EAGAIN if it was, or -errno.
 */
int unlocked_check(const char *path, const struct stat *noted);

#endif
