# SPDX-License-Identifier: GPL-2.0-or-later
db_libdb_a_SOURCES += \
	db/profile/accesses.c db/profile/accesses.h db/profile/accesses_codec.c \
	db/profile/accesses_private.h db/profile/codec.c db/profile/codec.h \
	db/profile/codec_records.c db/profile/codec_records.h db/profile/context.c \
	db/profile/context.h db/profile/edges.c db/profile/edges.h db/profile/flush.h \
	db/profile/operands.c db/profile/operands.h \
	db/profile/model.c db/profile/model.h db/profile/pack.c db/profile/pack.h \
	db/profile/profile.c db/profile/profile.h db/profile/records.c \
	db/profile/records.h db/profile/selection.c db/profile/selection.h \
	db/profile/stacktree.c \
	db/profile/stacktree.h db/profile/stacktree_codec.c \
	db/profile/stacktree_private.h db/profile/stacktree_walk.c \
	db/profile/stream_account.c db/profile/stream_account.h \
	db/profile/windows.c db/profile/windows.h db/profile/windows_codec.c
EXTRA_DIST += db/profile/README.md
