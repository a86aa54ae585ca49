# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/collect/auxarea.c daemon/collect/auxarea.h \
	daemon/collect/calibrate.c daemon/collect/calibrate.h \
	daemon/collect/collector.h daemon/collect/collector_kmod.c \
	daemon/collect/collector_none.c daemon/collect/collector_perf.c daemon/collect/counters.c \
	daemon/collect/counters.h daemon/collect/entries.c daemon/collect/entries.h \
	daemon/collect/event.c daemon/collect/event.h daemon/collect/eventperiod.c \
	daemon/collect/eventperiod.h daemon/collect/hwevent.c daemon/collect/hwevent.h \
	daemon/collect/kmodevent.h daemon/collect/pmu.c daemon/collect/pmu.h \
	daemon/collect/raw.h daemon/collect/sample.c daemon/collect/sample.h \
	daemon/collect/spefeed.c daemon/collect/spefeed.h daemon/collect/spelive.c \
	daemon/collect/spelive.h daemon/collect/monotonic.c daemon/collect/monotonic.h \
	daemon/collect/threads.c daemon/collect/threads.h

# The BPF collector. The object's debug information stays behind, its BTF does not.
BPF_FILES = daemon/collect/bpf_grace.c daemon/collect/bpf_grace.h \
	daemon/collect/bpf_log.c daemon/collect/bpf_log.h \
	daemon/collect/bpf_node.c daemon/collect/bpf_node.h \
	daemon/collect/bpf_table.c daemon/collect/bpf_table.h \
	daemon/collect/bpf_watch.c daemon/collect/bpf_watch.h \
	daemon/collect/collector_bpf.c \
	daemon/procmap/kerneltext.c \
	daemon/collect/tick.c daemon/collect/tick.h
EXTRA_DIST += $(BPF_FILES) daemon/procmap/kerneltext_none.c kmod/cpi.bpf.c
# The programs' lines name their files, wherever they were built.
COMPILE_BPF = $(BPF_CLANG) -target bpfel -mcpu=v3 -O2 -g -ffreestanding -Wall -Wextra \
	-Wno-unused-parameter -D__TARGET_ARCH_$(BPF_ARCH) -I$(srcdir) $(BPF_INCLUDES) \
	'-ffile-prefix-map=$(abs_builddir)=.' '-ffile-prefix-map=$(abs_srcdir)=.'
# Recipes for PROGRAM.bpf.o, whose first prerequisite is the source, and for
# PROGRAM.skel.h, whose prerequisite is the object.
MAKE_BPF_OBJECT = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(COMPILE_BPF) -c $< -o $(@:.o=.tmp.o) && $(BPFTOOL) gen object $@ $(@:.o=.tmp.o)
MAKE_BPF_SKELETON = $(AM_V_GEN)$(BPFTOOL) gen skeleton $< \
	name "$$(basename $@ .skel.h)_bpf" >$@.tmp && mv $@.tmp $@
if BPF
daemon_libdaemon_a_CFLAGS += $(BPF_CFLAGS)
daemon_libdaemon_a_SOURCES += $(BPF_FILES)
nodist_daemon_libdaemon_a_SOURCES = daemon/cpi.skel.h daemon/cpi_newprogram.skel.h
if WINDOWS
nodist_daemon_libdaemon_a_SOURCES += daemon/cpi_window.skel.h
endif
BUILT_SOURCES += daemon/cpi.skel.h
CLEANFILES += daemon/cpi.skel.h daemon/cpi.bpf.o daemon/cpi.bpf.tmp.o
daemon/collect/libdaemon_a-bpf_node.$(OBJEXT): daemon/cpi.skel.h
daemon/cpi.bpf.o: kmod/cpi.bpf.c kmod/cpi_bpf_kernel.h kmod/table.h abi/bpf.h \
		kmod/cpi_pair.h abi/pair.h \
		abi/branch.h abi/branch_arm64.h abi/branch_x86_64.h abi/entry.h
	$(MAKE_BPF_OBJECT)
daemon/cpi.skel.h: daemon/cpi.bpf.o
	$(MAKE_BPF_SKELETON)
else
daemon_libdaemon_a_SOURCES += daemon/procmap/kerneltext_none.c
endif
EXTRA_DIST += daemon/collect/README.md
