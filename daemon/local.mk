# SPDX-License-Identifier: GPL-2.0-or-later
# Everything but main.c, so that cpi record can have a session of its own.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_SOURCES = \
	daemon/calibrate.c daemon/calibrate.h \
	daemon/control.c daemon/control.h \
	daemon/listener.c daemon/listener.h \
	daemon/notify.c daemon/notify.h \
	daemon/options.c daemon/options.h \
	daemon/privileges.c daemon/privileges.h \
	daemon/session.h
