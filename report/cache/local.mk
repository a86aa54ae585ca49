# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/cache/cachefile.c report/cache/cachefile.h \
	report/cache/callsfile.c report/cache/callsfile.h \
	report/cache/schedulefile.c report/cache/schedulefile.h \
	report/cache/sumfile.c report/cache/sumfile.h \
	report/cache/symbolfile.c report/cache/symbolfile.h \
	report/cache/verified.c report/cache/verified.h
EXTRA_DIST += report/cache/README.md
