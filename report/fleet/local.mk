# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/fleet/amount.c report/fleet/amount.h \
	report/fleet/outliers.c report/fleet/outliers.h \
	report/fleet/sums.c report/fleet/sums.h report/fleet/top.c report/fleet/top.h
EXTRA_DIST += report/fleet/README.md
