# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/session/alert.c daemon/session/alert.h daemon/session/budget.c daemon/session/budget.h daemon/session/sampler.c \
	daemon/session/sampler.h daemon/session/session.c \
	daemon/session/session.h \
	daemon/session/session_budget.c daemon/session/session_collector.c daemon/session/session_events.c \
	daemon/session/session_flush.c daemon/session/session_late.c daemon/session/session_memory.c \
	daemon/session/session_mend.c daemon/session/session_open.c \
	daemon/session/session_private.h daemon/session/session_stacks.c \
	daemon/session/session_status.c
EXTRA_DIST += daemon/session/README.md daemon/session/session_windows.c \
	daemon/session/session_windows_none.c
if WINDOWS
daemon_libdaemon_a_SOURCES += daemon/session/session_windows.c
else
daemon_libdaemon_a_SOURCES += daemon/session/session_windows_none.c
endif
