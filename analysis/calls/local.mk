# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/calls/callsum.c analysis/calls/callsum.h analysis/calls/calltree.c \
	analysis/calls/calltree.h
EXTRA_DIST += analysis/calls/README.md
