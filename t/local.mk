# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += t/fixtures
include t/unit/local.mk
include t/fuzz/local.mk
include t/bench/local.mk
