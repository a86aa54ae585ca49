# SPDX-License-Identifier: GPL-2.0-or-later
# QUICK_TESTS are the units, the corpora, the tree and the command; LONG_TESTS run
# the daemon.
QUICK_TESTS =
LONG_TESTS =
TESTS = $(QUICK_TESTS) $(LONG_TESTS)
EXTRA_DIST += t/fixtures t/cpid.sh t/tap.sh

TREE_TESTS = t/0001-tree-includes.t t/0002-tree-format.t
CLI_TESTS = t/0101-cli-agrees.t t/0102-cli-usage.t t/0103-cli-prof.t \
	t/0104-cli-list.t t/0105-cli-epochs.t t/0106-cli-control.t t/0107-cli-record.t \
	t/0108-cli-terminal.t
CPID_TESTS = t/0201-cpid-lifecycle.t t/0202-cpid-privileges.t t/0203-cpid-help.t
dist_check_SCRIPTS += $(TREE_TESTS) $(CLI_TESTS) $(CPID_TESTS)
QUICK_TESTS += $(TREE_TESTS) $(CLI_TESTS)
LONG_TESTS += $(CPID_TESTS)

# The decoder, against binutils.
check_PROGRAMS += t/isa_dump
t_isa_dump_SOURCES = t/isa_dump.c
t_isa_dump_CFLAGS = $(AM_CFLAGS)
t_isa_dump_LDADD = analysis/libanalysis.a base/libbase.a $(ANALYSIS_LIBS)
dist_check_SCRIPTS += t/0300-isa-objdump.t
QUICK_TESTS += t/0300-isa-objdump.t

include t/unit/local.mk
include t/fuzz/local.mk
include t/bench/local.mk

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
