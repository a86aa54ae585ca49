# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += t/fixtures t/cpid.sh t/tap.sh
check_PROGRAMS += t/cpid_peer
CPID_TESTS = t/0201-cpid-lifecycle.t t/0202-cpid-privileges.t t/0203-cpid-help.t
dist_check_SCRIPTS += $(CPID_TESTS)
TESTS += $(CPID_TESTS)
include t/unit/local.mk
include t/fuzz/local.mk
