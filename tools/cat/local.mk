# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += \
	tools/cat/cat.h tools/cat/cat_edges.c tools/cat/cat_stacks.c tools/cat/cat_windows.c
EXTRA_DIST += tools/cat/README.md
