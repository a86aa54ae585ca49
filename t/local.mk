# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += t/fixtures
include t/unit/local.mk
include t/fuzz/local.mk

# The command, on databases of known content.
check_PROGRAMS += t/mkdb t/target
t_mkdb_SOURCES = t/mkdb.c
t_mkdb_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_mkdb_LDADD = analysis/libanalysis.a db/libdb.a base/libbase.a $(ANALYSIS_LIBS) \
	$(SQLITE_LIBS) $(ZSTD_LIBS)
# Without sanitizers: its instructions are what the listings show.
t_target_SOURCES = t/target.c
t_target_CFLAGS = $(WARN_CFLAGS) -g
t_target_LDFLAGS =
EXTRA_DIST += t/tap.sh
CLI_TESTS = t/0101-cli-agrees.t t/0102-cli-usage.t t/0103-cli-prof.t \
	t/0104-cli-list.t t/0105-cli-epochs.t t/0106-cli-control.t
dist_check_SCRIPTS += $(CLI_TESTS)
TESTS += $(CLI_TESTS)
