# SPDX-License-Identifier: GPL-2.0-or-later
db_libdb_a_SOURCES += \
	db/core/access_set.c db/core/captures.c db/core/captures.h \
	db/core/check.c db/core/claim.c db/core/claim.h db/core/db.c db/core/db.h \
	db/core/edge_set.c db/core/flush_rows.c db/core/flush_rows.h db/core/image_list.c db/core/image_list.h \
	db/core/image_numbers.c db/core/image_numbers.h db/core/intern.c \
	db/core/intern.h db/core/lockholder.c db/core/lockholder.h db/core/place.c \
	db/core/place.h db/core/profile_set.c db/core/rows.c db/core/rows.h db/core/schema.c \
	db/core/schema.h db/core/schema_check.c db/core/schema_check.h \
	db/core/set_rows.c db/core/set_rows.h db/core/slice.c db/core/slice.h \
	db/core/sql.c db/core/sql.h db/core/stack_set.c db/core/tallies.c \
	db/core/tallies.h db/core/unlocked.c db/core/unlocked.h \
	db/core/vfs.c db/core/vfs.h db/core/window_set.c
nodist_db_libdb_a_SOURCES = db/core/schema_sql.h
EXTRA_DIST += db/core/schema.sql db/core/schema_2.sql db/core/schema_3.sql db/core/schema_4.sql db/core/schema_5.sql \
	db/core/schema_6.sql db/core/schema_7.sql db/core/schema_8.sql db/core/schema_9.sql db/core/schema_read_3.sql \
	db/core/schema_read_4.sql db/core/schema_read_5.sql db/core/schema_read_6.sql db/core/schema_read_8.sql
BUILT_SOURCES += db/core/schema_sql.h
CLEANFILES += db/core/schema_sql.h

# Each version's step as a C string; the leading comments stay in the files.
db/core/schema_sql.h: db/core/schema.sql db/core/schema_2.sql db/core/schema_3.sql db/core/schema_4.sql db/core/schema_5.sql \
	db/core/schema_6.sql db/core/schema_7.sql db/core/schema_8.sql db/core/schema_9.sql db/core/schema_read_3.sql \
	db/core/schema_read_4.sql db/core/schema_read_5.sql db/core/schema_read_6.sql db/core/schema_read_8.sql
	$(AM_V_GEN)$(MKDIR_P) db/core && \
	for step in schema schema_2 schema_3 schema_4 schema_5 schema_6 schema_7 schema_8 schema_9 \
			schema_read_3 schema_read_4 schema_read_5 schema_read_6 schema_read_8; do \
		echo "static const char $${step}_sql[] ="; \
		sed -e '/^--/d' -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' \
			$(srcdir)/db/core/$$step.sql; \
		echo ';'; \
	done > $@.tmp && mv $@.tmp $@
db/core/libdb_a-schema.$(OBJEXT): db/core/schema_sql.h
EXTRA_DIST += db/core/README.md
