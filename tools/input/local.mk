# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += \
	tools/input/program.c tools/input/program.h tools/input/replay.c \
	tools/input/replay.h tools/input/tip_records.c tools/input/tip_records.h \
	tools/input/tracefile.c tools/input/tracefile.h \
	tools/input/unpack.c tools/input/unpack.h
EXTRA_DIST += tools/input/README.md
