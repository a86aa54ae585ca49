# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/import/perfaux.c daemon/import/perfaux.h daemon/import/perfaux_info.c \
	daemon/import/perfaux_info.h daemon/import/perfbranches.c \
	daemon/import/perfbranches.h daemon/import/perfchains.c \
	daemon/import/perfchains.h daemon/import/perfdata.c daemon/import/perfdata.h \
	daemon/import/perfdata_attr.c daemon/import/perfdata_header.c \
	daemon/import/perfdata_private.h daemon/import/perfdata_queue.c \
	daemon/import/perfdata_record.c daemon/import/perfdata_sample.c \
	daemon/import/perfdata_source.c daemon/import/perfdata_unpack.c \
	daemon/import/perfevents.c daemon/import/perfevents.h \
	daemon/import/perfimport.c daemon/import/perfimport.h \
	daemon/import/perfimport_aux.c daemon/import/perfimport_private.h \
	daemon/import/perfimport_samples.c daemon/import/perfimport_store.c \
	daemon/import/perfmaps.c daemon/import/perfmaps.h daemon/import/perfrecords.c \
	daemon/import/perfrecords.h daemon/import/perfstreams.c \
	daemon/import/perfstreams.h daemon/import/replay.c daemon/import/replay.h \
	daemon/import/replay_samples.c daemon/import/replay_samples.h
EXTRA_DIST += daemon/import/README.md
