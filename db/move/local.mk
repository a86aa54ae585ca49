# SPDX-License-Identifier: GPL-2.0-or-later
db_libdb_a_SOURCES += \
	db/move/copy.c db/move/copy.h db/move/copy_rows.c db/move/export.c \
	db/move/export.h db/move/import.c db/move/import.h db/move/join.c \
	db/move/join.h
EXTRA_DIST += db/move/README.md
