# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += db/libdb.a
db_libdb_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(ZSTD_CFLAGS)
db_libdb_a_SOURCES =
