# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/jit/jit.c daemon/jit/jit.h daemon/jit/jitdump.c daemon/jit/jitdump.h \
	daemon/jit/jitimage.c daemon/jit/jitimage.h daemon/jit/jitmap.c \
	daemon/jit/jitmap.h daemon/jit/jitowner.c daemon/jit/jitread.c \
	daemon/jit/jitread.h
EXTRA_DIST += daemon/jit/README.md
