# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/procmap/accounts.c daemon/procmap/accounts.h daemon/procmap/codecache.c \
	daemon/procmap/codecache.h \
	daemon/procmap/imagefile.c daemon/procmap/imagefile.h daemon/procmap/images.c \
	daemon/procmap/images.h daemon/procmap/kernel.c daemon/procmap/kernel.h \
	daemon/procmap/kerneltext.h daemon/procmap/processmaps.c \
	daemon/procmap/processmaps.h daemon/procmap/procmap.c daemon/procmap/procmap.h \
	daemon/procmap/procmap_lookup.c daemon/procmap/procmap_owners.c \
	daemon/procmap/procmap_private.h \
	daemon/procmap/threadmap.c daemon/procmap/threadmap.h
EXTRA_DIST += daemon/procmap/README.md
