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

# analysis/
UNIT_ANALYSIS = t/unit/check_cover t/unit/check_demangle t/unit/check_image \
	t/unit/check_image_hostile t/unit/check_isa t/unit/check_symtab
check_PROGRAMS += $(UNIT_ANALYSIS)
TESTS += $(UNIT_ANALYSIS)
EXTRA_DIST += t/unit/elf_fixture.h t/fixtures/elf
UNIT_ANALYSIS_LDADD = analysis/libanalysis.a $(UNIT_LDADD) $(ANALYSIS_LIBS)
UNIT_ANALYSIS_CFLAGS = $(UNIT_CFLAGS) $(ELF_CFLAGS)

t_unit_check_cover_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_cover_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_demangle_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_demangle_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_image_CFLAGS = $(UNIT_ANALYSIS_CFLAGS)
t_unit_check_image_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_isa_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_isa_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_symtab_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_symtab_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_image_hostile_CFLAGS = $(UNIT_ANALYSIS_CFLAGS)
t_unit_check_image_hostile_LDADD = $(UNIT_ANALYSIS_LDADD)
