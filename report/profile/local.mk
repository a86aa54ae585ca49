# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/profile/prof.c report/profile/prof.h report/profile/prof_epochs.c report/profile/prof_epochs.h \
	report/profile/prof_evidence.c \
	report/profile/prof_kept.c report/profile/prof_kept.h \
	report/profile/prof_parts.c report/profile/prof_parts.h \
	report/profile/prof_rows.c report/profile/prof_rows.h \
	report/profile/prof_time.c report/profile/prof_time.h report/profile/top.c \
	report/profile/procedure_evidence.c \
	report/profile/procedure_evidence.h report/profile/top.h report/profile/top_evidence.c \
	report/profile/top_evidence.h report/profile/top_feed.c \
	report/profile/top_feed.h report/profile/prof_context.c report/profile/prof_context.h
EXTRA_DIST += report/profile/README.md
