# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += db/libdb.a
db_libdb_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(ZSTD_CFLAGS)
db_libdb_a_SOURCES = \
	db/anchors.c db/anchors.h db/anchorsums.h \
	db/capture.c \
	db/captures.c db/captures.h \
	db/check.c \
	db/claim.c db/claim.h \
	db/codec.c db/codec.h \
	db/codec_records.c db/codec_records.h \
	db/context.c db/context.h \
	db/copy.c db/copy.h \
	db/copy_rows.c \
	db/db.c db/db.h \
	db/edge_rows.c db/edge_rows.h \
	db/edges.c db/edges.h \
	db/epochs.c \
	db/export.c db/export.h \
	db/flush.c db/flush.h \
	db/image_list.c db/image_list.h \
	db/import.c db/import.h \
	db/intern.c db/intern.h \
	db/join.c db/join.h \
	db/model.c db/model.h \
	db/pack.c db/pack.h \
	db/places.c db/places.h \
	db/profile.c db/profile.h \
	db/query.c db/query.h \
	db/query_edges.c \
	db/records.c db/records.h \
	db/removal.c db/removal.h \
	db/retain.c db/retain.h db/retain_policy.c \
	db/rollup.c db/rollup.h \
	db/rollup_begin.c db/rollup_day.c \
	db/rollup_finish.c db/rollup_private.h \
	db/rollup_group.c db/rollup_group.h \
	db/rollup_spread.c \
	db/rows.c db/rows.h \
	db/schema.c db/schema.h \
	db/slice.c db/slice.h \
	db/spread.c db/spread.h \
	db/sql.c db/sql.h \
	db/stacks.c db/stacks.h \
	db/stacks_roll.c \
	db/stacks_store.c db/stacks_store.h \
	db/stacktree.c db/stacktree.h \
	db/stacktree_codec.c db/stacktree_private.h \
	db/stacktree_walk.c \
	db/store.c db/store.h \
	db/tallies.c db/tallies.h \
	db/totals.c \
	db/window_query.c db/window_query.h \
	db/window_rows.c db/window_rows.h \
	db/windows.c db/windows.h \
	db/windows_codec.c
nodist_db_libdb_a_SOURCES = db/schema_sql.h
EXTRA_DIST += db/schema.sql db/schema_2.sql db/schema_3.sql
BUILT_SOURCES += db/schema_sql.h
CLEANFILES += db/schema_sql.h

# Each version's step as a C string; the leading comments stay in the files.
db/schema_sql.h: db/schema.sql db/schema_2.sql db/schema_3.sql
	$(AM_V_GEN)$(MKDIR_P) db && \
	for step in schema schema_2 schema_3; do \
		echo "static const char $${step}_sql[] ="; \
		sed -e '/^--/d' -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' $(srcdir)/db/$$step.sql; \
		echo ';'; \
	done > $@.tmp && mv $@.tmp $@
db/libdb_a-schema.$(OBJEXT): db/schema_sql.h
