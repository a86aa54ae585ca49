# SPDX-License-Identifier: GPL-2.0-or-later
# QUICK_TESTS are the units, the corpora, the tree and the command; LONG_TESTS run
# the daemon.
QUICK_TESTS =
LONG_TESTS =
TESTS = $(QUICK_TESTS) $(LONG_TESTS)
EXTRA_DIST += t/fixtures t/cpid.sh t/tap.sh

TREE_TESTS = t/0001-tree-includes.t t/0002-tree-format.t
CLI_TESTS = t/0101-cli-agrees.t t/0102-cli-usage.t t/0103-cli-prof.t
CPID_TESTS = t/0201-cpid-lifecycle.t t/0202-cpid-privileges.t t/0203-cpid-help.t
dist_check_SCRIPTS += $(TREE_TESTS) $(CLI_TESTS) $(CPID_TESTS)
QUICK_TESTS += $(TREE_TESTS) $(CLI_TESTS)
LONG_TESTS += $(CPID_TESTS)

include t/unit/local.mk
include t/fuzz/local.mk

check_PROGRAMS += t/cpid_peer

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
