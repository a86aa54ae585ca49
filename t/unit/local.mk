# SPDX-License-Identifier: GPL-2.0-or-later
# One program per source file that is tested: t/unit/check_<file>.c.
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LDADD = base/libbase.a $(CHECK_LIBS)
UNIT = t/unit/check_base t/unit/check_entry t/unit/check_branch t/unit/check_rangemap \
	t/unit/check_table t/unit/check_text
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
t_unit_check_text_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_text_LDADD = tools/libtools.a $(UNIT_LDADD)
