# SPDX-License-Identifier: GPL-2.0-or-later
db_libdb_a_SOURCES += \
	db/store/flush_kind.h db/store/flush_merge.c db/store/flush_merge.h \
	db/store/flush_samples.c db/store/flush_sets.c db/store/save.c db/store/save.h \
	db/store/store.c db/store/store.h
EXTRA_DIST += db/store/README.md
