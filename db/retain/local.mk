# SPDX-License-Identifier: GPL-2.0-or-later
db_libdb_a_SOURCES += \
	db/retain/removal.c db/retain/removal.h db/retain/retain.c db/retain/retain.h \
	db/retain/retain_clock.c db/retain/retain_clock.h db/retain/retain_policy.c \
	db/retain/rollup.c db/retain/rollup.h db/retain/rollup_begin.c \
	db/retain/rollup_day.c db/retain/rollup_finish.c db/retain/rollup_flushes.c \
	db/retain/rollup_group.c db/retain/rollup_group.h db/retain/rollup_private.h db/retain/rollup_spread.c
EXTRA_DIST += db/retain/README.md
