# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += \
	tools/export/diff_junit.c tools/export/diff_junit.h tools/export/export.h tools/export/export_bolt.c \
	tools/export/export_callgrind.c tools/export/export_collapsed.c \
	tools/export/export_firefox.c tools/export/export_gcov.c \
	tools/export/export_llvm.c tools/export/export_llvm_binary.c \
	tools/export/export_speedscope.c tools/export/export_unsymbolized.c

# pprof's format.
if PROTOBUF_C
tools_libtools_a_CFLAGS += $(PROTOBUF_C_CFLAGS)
tools_libtools_a_SOURCES += tools/export/export_pprof.c
nodist_tools_libtools_a_SOURCES += tools/export/pprof.pb-c.c tools/export/pprof.pb-c.h
BUILT_SOURCES += tools/export/pprof.pb-c.h
CLEANFILES += tools/export/pprof.pb-c.c tools/export/pprof.pb-c.h
tools/export/libtools_a-export_pprof.$(OBJEXT): tools/export/pprof.pb-c.h
tools/export/pprof.pb-c.c: tools/export/pprof.pb-c.h
tools/export/pprof.pb-c.h: tools/export/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) tools/export && \
	$(PROTOC_C) --c_out=tools/export --proto_path=$(srcdir)/tools/export \
		$(srcdir)/tools/export/pprof.proto
endif
EXTRA_DIST += tools/export/pprof.proto
EXTRA_DIST += tools/export/README.md
