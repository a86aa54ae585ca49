# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/store/capture.c daemon/store/capture.h daemon/store/capture_child.c \
	daemon/store/capture_child.h daemon/store/retention.c daemon/store/retention.h \
	daemon/store/outbox.c daemon/store/outbox.h daemon/store/outbox_captures.c \
	daemon/store/outbox_flush.c daemon/store/outbox_private.h \
	daemon/store/saver.c daemon/store/saver.h daemon/store/wallclock.c \
	daemon/store/wallclock.h
EXTRA_DIST += daemon/store/README.md
