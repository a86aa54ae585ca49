# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += report/workers/workers.c report/workers/workers.h
EXTRA_DIST += report/workers/README.md
