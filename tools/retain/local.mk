# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += tools/retain/retaining.c tools/retain/retaining.h
EXTRA_DIST += tools/retain/README.md
