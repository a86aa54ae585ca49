# SPDX-License-Identifier: GPL-2.0-or-later
# Everything but main.c, so that cpi record can have a session of its own.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_CFLAGS = $(AM_CFLAGS) -DPKGLIBEXECDIR='"$(pkglibexecdir)"' $(ELF_CFLAGS) $(SQLITE_CFLAGS) $(CAP_CFLAGS) $(NETTLE_CFLAGS)
daemon_libdaemon_a_SOURCES = \
	daemon/anchors.c daemon/anchors.h \
	daemon/anchortally.c daemon/anchortally.h \
	daemon/announce.c daemon/announce.h \
	daemon/apart.c daemon/apart.h \
	daemon/arch.c daemon/arch.h \
	daemon/attribute.c daemon/attribute.h daemon/attribute_branches.c \
	daemon/attribute_private.h daemon/attribute_stack.c \
	daemon/auxarea.c daemon/auxarea.h \
	daemon/branches.h \
	daemon/breakpoint.c daemon/breakpoint.h \
	daemon/budget.c daemon/budget.h \
	daemon/calibrate.c daemon/calibrate.h \
	daemon/capture.c daemon/capture.h \
	daemon/capture_child.c daemon/capture_child.h \
	daemon/codecache.c daemon/codecache.h \
	daemon/cgroupevents.c daemon/cgroupevents.h \
	daemon/cgroups.c daemon/cgroups.h \
	daemon/collector.h daemon/collector_kmod.c daemon/collector_perf.c \
	daemon/kmodevent.h \
	daemon/collector_replay.c \
	daemon/control.c daemon/control.h \
	daemon/counters.c daemon/counters.h \
	daemon/cpus.c daemon/cpus.h \
	daemon/elfid.c daemon/elfid.h \
	daemon/entries.c daemon/entries.h \
	daemon/event.c daemon/event.h \
	daemon/hwevent.c daemon/hwevent.h \
	daemon/helper.c daemon/helper.h \
	daemon/imagenumbers.c daemon/imagenumbers.h \
	daemon/images.c daemon/images.h \
	daemon/jit.c daemon/jit.h \
	daemon/jitdump.c daemon/jitdump.h \
	daemon/jitimage.c daemon/jitimage.h \
	daemon/jitmap.c daemon/jitmap.h \
	daemon/jitowner.c daemon/jitread.c daemon/jitread.h \
	daemon/keeper.c daemon/keeper.h \
	daemon/kernel.c daemon/kernel.h \
	daemon/kerneltext.h \
	daemon/labels.c daemon/labels.h \
	daemon/listener.c daemon/listener.h \
	daemon/loss.c daemon/loss.h \
	daemon/metrics.c daemon/metrics.h \
	daemon/mountinfo.c daemon/mountinfo.h \
	daemon/movedtext.c daemon/movedtext.h \
	daemon/names.c daemon/names.h \
	daemon/nodes.c daemon/nodes.h \
	daemon/notify.c daemon/notify.h \
	daemon/options.c daemon/options.h \
	daemon/outbox.c daemon/outbox.h \
	daemon/perfaux.c daemon/perfaux.h daemon/perfaux_info.c daemon/perfaux_info.h \
	daemon/perfbranches.c daemon/perfbranches.h \
	daemon/perfchains.c daemon/perfchains.h \
	daemon/perfdata.c daemon/perfdata.h \
	daemon/perfdata_attr.c daemon/perfdata_header.c \
	daemon/perfdata_queue.c daemon/perfdata_record.c \
	daemon/perfdata_sample.c daemon/perfdata_source.c \
	daemon/perfdata_unpack.c daemon/perfdata_private.h \
	daemon/outbox_trees.c daemon/outbox_trees.h \
	daemon/outbox_windows.c daemon/outbox_windows.h \
	daemon/perfev.c daemon/perfev.h \
	daemon/perfevents.c daemon/perfevents.h \
	daemon/perfimport.c daemon/perfimport.h \
	daemon/perfimport_aux.c daemon/perfimport_private.h \
	daemon/perfimport_samples.c \
	daemon/perfimport_store.c \
	daemon/perfmaps.c daemon/perfmaps.h \
	daemon/perfrecords.c daemon/perfrecords.h \
	daemon/perfstreams.c daemon/perfstreams.h \
	daemon/platform.c daemon/platform.h \
	daemon/pmu.c daemon/pmu.h \
	daemon/privileges.c daemon/privileges.h \
	daemon/procmap.c daemon/procmap.h \
	daemon/procroot.c daemon/procroot.h \
	daemon/procscan.c daemon/procscan.h \
	daemon/ration.c daemon/ration.h \
	daemon/raw.h \
	daemon/registration.c daemon/registration.h \
	daemon/replay.c daemon/replay.h \
	daemon/ring.c daemon/ring.h \
	daemon/sample.c daemon/sample.h \
	daemon/session.c daemon/session.h \
	daemon/session_anchors.c \
	daemon/session_budget.c \
	daemon/session_collector.c \
	daemon/session_flush.c \
	daemon/session_open.c daemon/session_private.h \
	daemon/session_status.c \
	daemon/sideband.c daemon/sideband.h \
	daemon/session_stacks.c daemon/session_windows.c \
	daemon/spefeed.c daemon/spefeed.h \
	daemon/spelive.c daemon/spelive.h \
	daemon/stacksampler.c daemon/stacksampler.h \
	daemon/stacktally.c daemon/stacktally.h \
	daemon/stated.c daemon/stated.h \
	daemon/statement.c daemon/statement.h \
	daemon/tipfile.c daemon/tipfile.h \
	daemon/unwind_child.c daemon/unwind_child.h \
	daemon/unwindcodes.c daemon/unwindcodes.h \
	daemon/unwinding.c daemon/unwinding.h \
	daemon/swept.c daemon/swept.h \
	daemon/tally.c daemon/tally.h daemon/tally_edges.c \
	daemon/translate_check.c daemon/translate_check.h \
	daemon/windowexclude.c daemon/windowexclude.h daemon/windowsampler.h \
	daemon/threads.c daemon/threads.h \
	daemon/windowtally.c daemon/windowtally.h

# The BPF collector. The object's debug information stays behind, its BTF does not.
BPF_FILES = daemon/bpf_grace.c daemon/bpf_grace.h \
	daemon/bpf_log.c daemon/bpf_log.h \
	daemon/bpf_node.c daemon/bpf_node.h \
	daemon/bpf_table.c daemon/bpf_table.h \
	daemon/bpf_watch.c daemon/bpf_watch.h \
	daemon/collector_bpf.c \
	daemon/kerneltext.c \
	daemon/tick.c daemon/tick.h
EXTRA_DIST += $(BPF_FILES) daemon/kerneltext_none.c kmod/cpi.bpf.c
COMPILE_BPF = $(BPF_CLANG) -target bpfel -mcpu=v3 -O2 -g -ffreestanding -Wall -Wextra \
	-Wno-unused-parameter -D__TARGET_ARCH_$(BPF_ARCH) -I$(srcdir) $(BPF_INCLUDES)
if BPF
daemon_libdaemon_a_CFLAGS += $(BPF_CFLAGS)
daemon_libdaemon_a_SOURCES += $(BPF_FILES)
nodist_daemon_libdaemon_a_SOURCES = daemon/cpi.skel.h
if WINDOWS
nodist_daemon_libdaemon_a_SOURCES += daemon/cpi_window.skel.h
endif
BUILT_SOURCES += daemon/cpi.skel.h
CLEANFILES += daemon/cpi.skel.h daemon/cpi.bpf.o daemon/cpi.bpf.tmp.o
daemon/libdaemon_a-bpf_node.$(OBJEXT): daemon/cpi.skel.h
daemon/cpi.bpf.o: kmod/cpi.bpf.c kmod/cpi_bpf_kernel.h kmod/table.h abi/bpf.h \
		abi/branch.h abi/branch_arm64.h abi/branch_x86_64.h abi/entry.h
	$(AM_V_GEN)$(MKDIR_P) daemon && \
	$(COMPILE_BPF) -c $(srcdir)/kmod/cpi.bpf.c -o daemon/cpi.bpf.tmp.o && \
	$(BPFTOOL) gen object $@ daemon/cpi.bpf.tmp.o
daemon/cpi.skel.h: daemon/cpi.bpf.o
	$(AM_V_GEN)$(BPFTOOL) gen skeleton daemon/cpi.bpf.o name cpi_bpf >$@.tmp && \
	mv $@.tmp $@
else
daemon_libdaemon_a_SOURCES += daemon/kerneltext_none.c
endif

# Windows: what runs in the interrupt, and what it needs.
WINDOW_FILES = daemon/translate_child.c daemon/translate_child.h \
	daemon/windowahead.c daemon/windowahead.h \
	daemon/windowbpf.c daemon/windowkmod.c \
	daemon/windowpages.c daemon/windowpages.h \
	daemon/windowprocs.c daemon/windowprocs.h \
	daemon/windowsampler.c \
	daemon/windowsource.c daemon/windowsource.h
EXTRA_DIST += $(WINDOW_FILES) daemon/windowsampler_none.c kmod/cpi_window.bpf.c
if WINDOWS
daemon_libdaemon_a_SOURCES += $(WINDOW_FILES)
BUILT_SOURCES += daemon/cpi_window.skel.h
CLEANFILES += daemon/cpi_window.skel.h daemon/cpi_window.bpf.o daemon/cpi_window.bpf.tmp.o
daemon/libdaemon_a-windowbpf.$(OBJEXT): daemon/cpi_window.skel.h
daemon/cpi_window.bpf.o: kmod/cpi_window.bpf.c kmod/cpi_bpf_kernel.h kmod/window.h \
		kmod/cpi_window_arm64.h kmod/cpi_window_x86.h \
		kmod/window_alu.h kmod/window_memory.h kmod/cpi_window_registers.h \
		kmod/cpi_window_sample.h kmod/window_vector.h abi/uop.h abi/window.h \
		abi/window_bpf.h
	$(AM_V_GEN)$(MKDIR_P) daemon && \
	$(COMPILE_BPF) -c $(srcdir)/kmod/cpi_window.bpf.c -o daemon/cpi_window.bpf.tmp.o && \
	$(BPFTOOL) gen object $@ daemon/cpi_window.bpf.tmp.o
daemon/cpi_window.skel.h: daemon/cpi_window.bpf.o
	$(AM_V_GEN)$(BPFTOOL) gen skeleton daemon/cpi_window.bpf.o name cpi_window_bpf \
		>$@.tmp && mv $@.tmp $@
else
daemon_libdaemon_a_SOURCES += daemon/windowsampler_none.c
endif

sbin_PROGRAMS += daemon/cpid
daemon_cpid_SOURCES = daemon/main.c
daemon_cpid_LDADD = daemon/libdaemon.a analysis/libanalysis.a db/libdb.a base/libbase.a $(SQLITE_LIBS) \
	$(ZSTD_LIBS) $(ELF_LIBS) $(CAP_LIBS) $(NETTLE_LIBS) $(PFM_LIBS) $(BPF_LIBS) -lm

systemdsystemunit_DATA = daemon/cpid.service
sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = daemon/cpi.conf
EXTRA_DIST += daemon/cpid.service.in
CLEANFILES += daemon/cpid.service

daemon/cpid.service: daemon/cpid.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) daemon && \
	sed -e 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/daemon/cpid.service.in >$@
