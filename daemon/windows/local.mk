# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/windows/translate_check.c \
	daemon/windows/translate_check.h daemon/windows/windowexclude.c \
	daemon/windows/windowleads.c daemon/windows/windowleads.h \
	daemon/windows/windowexclude.h daemon/windows/windowsampler.h \
	daemon/windows/windowpairs.c daemon/windows/windowpairs.h \
	daemon/windows/windowtally.c daemon/windows/windowtally.h \
	daemon/windows/windowpool.c daemon/windows/windowpool.h \
	daemon/windows/windowunits.c daemon/windows/windowunits.h

# Windows: what runs in the interrupt, and what it needs.
WINDOW_FILES = daemon/windows/translate_child.c daemon/windows/translate_child.h \
	daemon/windows/windowahead.c daemon/windows/windowahead.h \
	daemon/windows/windowforms.c daemon/windows/windowforms.h \
	daemon/windows/windowbpf.c daemon/windows/windowkmod.c \
	daemon/windows/windowlate.c daemon/windows/windowlate.h \
	daemon/windows/windowpages.c daemon/windows/windowpages.h \
	daemon/windows/windowprocs.c daemon/windows/windowprocs.h \
	daemon/windows/windowreplay.c daemon/windows/windowreplay.h \
	daemon/windows/sizedcalls.c daemon/windows/sizedcalls.h \
	daemon/windows/startweights.c daemon/windows/startweights.h \
	daemon/windows/windowsampler.c \
	daemon/windows/windowsource.c daemon/windows/windowsource.h
EXTRA_DIST += $(WINDOW_FILES) kmod/cpi_window.bpf.c
if WINDOWS
daemon_libdaemon_a_SOURCES += $(WINDOW_FILES)
BUILT_SOURCES += daemon/cpi_window.skel.h
CLEANFILES += daemon/cpi_window.skel.h daemon/cpi_window.bpf.o daemon/cpi_window.bpf.tmp.o
daemon/windows/libdaemon_a-windowbpf.$(OBJEXT): daemon/cpi_window.skel.h
daemon/cpi_window.bpf.o: kmod/cpi_window.bpf.c kmod/cpi_bpf_kernel.h kmod/window.h \
		kmod/cpi_window_arm64.h kmod/cpi_window_x86.h \
		kmod/window_alu.h kmod/window_memory.h kmod/cpi_window_registers.h \
		kmod/cpi_window_sample.h kmod/window_vector.h abi/form.h abi/uop.h abi/window.h \
		abi/window_bpf.h kmod/cpi_pair.h abi/pair.h
	$(MAKE_BPF_OBJECT)
daemon/cpi_window.skel.h: daemon/cpi_window.bpf.o
	$(MAKE_BPF_SKELETON)
endif
EXTRA_DIST += daemon/windows/README.md
