# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += tools/fleet/fleet_print.h tools/fleet/fleet_top_print.c \
	tools/fleet/fleet_outliers_print.c \
	tools/fleet/fleet_join.c tools/fleet/fleet_join.h
EXTRA_DIST += tools/fleet/README.md
