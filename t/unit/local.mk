# SPDX-License-Identifier: GPL-2.0-or-later
# One program per source file that is tested: t/unit/check_<file>.c.
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LDADD = base/libbase.a $(CHECK_LIBS)
UNIT = t/unit/check_base t/unit/check_entry t/unit/check_branch t/unit/check_rangemap \
	t/unit/check_table
check_PROGRAMS += $(UNIT)
TESTS += $(UNIT)
EXTRA_DIST += t/unit/unit.h

t_unit_check_base_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_base_LDADD = $(UNIT_LDADD)
t_unit_check_entry_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_entry_LDADD = $(UNIT_LDADD)
t_unit_check_branch_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_branch_LDADD = $(UNIT_LDADD)
t_unit_check_rangemap_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_rangemap_LDADD = $(UNIT_LDADD)
t_unit_check_table_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_table_LDADD = $(UNIT_LDADD)

# Tests of db/.
DB_UNIT = t/unit/check_profile t/unit/check_codec t/unit/check_store \
	t/unit/check_db t/unit/check_db_root t/unit/check_query
DB_UNIT_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS) $(ZSTD_CFLAGS)
DB_UNIT_LDADD = db/libdb.a base/libbase.a $(SQLITE_LIBS) $(ZSTD_LIBS) $(CHECK_LIBS)
check_PROGRAMS += $(DB_UNIT)
TESTS += $(DB_UNIT)
EXTRA_DIST += t/unit/dbtest.h

t_unit_check_profile_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_profile_LDADD = $(DB_UNIT_LDADD)
t_unit_check_codec_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_codec_LDADD = $(DB_UNIT_LDADD)
t_unit_check_store_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_store_LDADD = $(DB_UNIT_LDADD)
t_unit_check_db_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_db_LDADD = $(DB_UNIT_LDADD)
t_unit_check_db_root_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_db_root_LDADD = $(DB_UNIT_LDADD)
t_unit_check_query_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_query_LDADD = $(DB_UNIT_LDADD)
