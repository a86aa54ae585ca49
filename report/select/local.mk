# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/select/attribution.c report/select/attribution.h \
	report/select/brief.c report/select/brief.h \
	report/select/cgroupname.c report/select/cgroupname.h \
	report/select/containername.c report/select/containername.h \
	report/select/content.c report/select/content.h \
	report/select/client.c report/select/client.h \
	report/select/default_db.c report/select/default_db.h \
	report/select/epochspec.c report/select/epochspec.h \
	report/select/freshness.c report/select/freshness.h report/select/events.c \
	report/select/events.h report/select/evidence.c report/select/evidence.h \
	report/select/facts.c report/select/facts.h \
	report/select/imagecache.c report/select/imagecache.h report/select/imagetrail.c report/select/imagetrail.h report/select/optional_text.h \
	report/select/procname.c report/select/procname.h report/select/remote.c \
	report/select/remote.h report/select/select.c report/select/select.h \
	report/select/select_command.c report/select/select_command.h \
	report/select/select_stacks.c report/select/select_stacks.h \
	report/select/source.c report/select/source.h report/select/timesource.c \
	report/select/timesource.h report/select/databases.c report/select/databases.h
EXTRA_DIST += report/select/README.md
