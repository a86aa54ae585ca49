# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += tools/top/top_screen.c tools/top/top_screen.h
EXTRA_DIST += tools/top/README.md
