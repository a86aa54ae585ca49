# SPDX-License-Identifier: GPL-2.0-or-later
# How much faster profiles make programs: t/fdo/run.
check_PROGRAMS += t/fdo/exact
t_fdo_exact_SOURCES = t/fdo/exact.c
t_fdo_exact_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_fdo_exact_LDADD = $(t_mkdb_LDADD)
EXTRA_DIST += t/loads.py t/fdo/builds.py t/fdo/inputs.py t/fdo/programs.py \
	t/fdo/run t/fdo/small.c
dist_check_SCRIPTS += t/0332-fdo-short.t
QUICK_TESTS += t/0332-fdo-short.t
