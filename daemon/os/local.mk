# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/os/timed_child.c daemon/os/timed_child.h daemon/os/timed_child_private.h \
	daemon/os/timed_child_serve.c daemon/os/arch.c daemon/os/arch.h \
	daemon/os/background.c daemon/os/background.h \
	daemon/os/clockrate.c daemon/os/clockrate.h daemon/os/cpus.c \
	daemon/os/cpus.h daemon/os/foreignfds.c daemon/os/foreignfds.h \
	daemon/os/heartbeat.c daemon/os/heartbeat.h daemon/os/helper.c \
	daemon/os/helper.h daemon/os/listener.c daemon/os/listener.h daemon/os/loss.c \
	daemon/os/loss.h daemon/os/names.c daemon/os/names.h daemon/os/nodes.c \
	daemon/os/nodes.h daemon/os/openfiles.c daemon/os/openfiles.h \
	daemon/os/perfev.c daemon/os/perfev.h daemon/os/perftarget.c \
	daemon/os/perftarget.h daemon/os/platform.c \
	daemon/os/platform.h daemon/os/privileges.c daemon/os/privileges.h \
	daemon/os/procroot.c \
	daemon/os/procroot.h daemon/os/time_quota.c daemon/os/time_quota.h daemon/os/ring.c \
	daemon/os/ring.h daemon/os/tipfile.c daemon/os/tipfile.h daemon/os/wrapping.h
EXTRA_DIST += daemon/os/README.md
