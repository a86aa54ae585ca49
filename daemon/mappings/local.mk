# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/mappings/announce.c daemon/mappings/announce.h \
	daemon/mappings/cgroupevents.c daemon/mappings/cgroupevents.h \
	daemon/mappings/cgroups.c daemon/mappings/cgroups.h daemon/mappings/labels.c \
	daemon/mappings/labels.h daemon/mappings/movedtext.c \
	daemon/mappings/movedtext.h daemon/mappings/procscan.c \
	daemon/mappings/procscan.h daemon/mappings/registration.c \
	daemon/mappings/registration.h daemon/mappings/rescan.c \
	daemon/mappings/rescan.h daemon/mappings/sideband.c daemon/mappings/sideband.h \
	daemon/mappings/announced.c daemon/mappings/announced.h daemon/mappings/announcement.c \
	daemon/mappings/announcement.h daemon/mappings/threadscan.c \
	daemon/mappings/threadscan.h daemon/mappings/newprogram.h
EXTRA_DIST += daemon/mappings/README.md daemon/mappings/newprogram.c \
	daemon/mappings/newprogram_none.c kmod/cpi_newprogram.bpf.c
if BPF
daemon_libdaemon_a_SOURCES += daemon/mappings/newprogram.c
BUILT_SOURCES += daemon/cpi_newprogram.skel.h
CLEANFILES += daemon/cpi_newprogram.skel.h daemon/cpi_newprogram.bpf.o \
	daemon/cpi_newprogram.bpf.tmp.o
daemon/mappings/libdaemon_a-newprogram.$(OBJEXT): daemon/cpi_newprogram.skel.h
daemon/cpi_newprogram.bpf.o: kmod/cpi_newprogram.bpf.c kmod/cpi_bpf_kernel.h abi/newprogram.h
	$(MAKE_BPF_OBJECT)
daemon/cpi_newprogram.skel.h: daemon/cpi_newprogram.bpf.o
	$(MAKE_BPF_SKELETON)
else
daemon_libdaemon_a_SOURCES += daemon/mappings/newprogram_none.c
endif
