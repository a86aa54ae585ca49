/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfs.h - SQLite's access to files, for a folder in which others can write
 *
 * A rollback journal can name a super-journal: that of a transaction on several
 * databases. When SQLite finds such a journal beside a database, it rolls it back, and
 * then reads and deletes the super-journal, whatever file that is. CPI's databases have
 * a WAL, and so no super-journal. This VFS opens none, and SQLite then deletes nothing.
 * It also never waits in open(), as for a FIFO.
 */
#ifndef CPI_DB_VFS_H
#define CPI_DB_VFS_H

/* The name of this VFS, for sqlite3_open_v2(). NULL: out of memory. */
const char *vfs_name(void);

#endif
