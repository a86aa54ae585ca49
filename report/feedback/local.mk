# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/feedback/compiler_profile.c report/feedback/compiler_profile.h \
	report/feedback/compiler_profile_carry.c report/feedback/compiler_profile_check.c \
	report/feedback/compiler_profile_sources.c report/feedback/compiler_profile_warn.c
EXTRA_DIST += report/feedback/README.md
