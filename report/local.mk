# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += report/libreport.a
report_libreport_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(DEBUGINFOD_CFLAGS)
report_libreport_a_SOURCES =
