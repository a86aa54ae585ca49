# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/calls/calls.c report/calls/calls.h report/calls/calls_find.c \
	report/calls/children.c report/calls/children.h report/calls/frames.c \
	report/calls/frames.h report/calls/inlined.c report/calls/inlined.h \
	report/calls/strings.c report/calls/strings.h report/calls/tree.c \
	report/calls/tree.h report/calls/export_stack.h report/calls/export_frames.c \
	report/calls/export_frames.h report/calls/export_labels.c \
	report/calls/export_labels.h report/calls/export_places.c \
	report/calls/export_places.h report/calls/export_tree.c \
	report/calls/export_tree.h report/calls/export_samples.c report/calls/export_samples.h \
	report/calls/export_flat.c report/calls/export_stacks.c
EXTRA_DIST += report/calls/README.md
