# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/control/askers.c daemon/control/askers.h daemon/control/control.c \
	daemon/control/control.h daemon/control/control_private.h \
	daemon/control/control_request.c daemon/control/control_server.c \
	daemon/control/metrics.c daemon/control/metrics.h \
	daemon/control/options.c daemon/control/options.h \
	daemon/control/status_parts.c daemon/control/status_parts.h
EXTRA_DIST += daemon/control/README.md
