# SPDX-License-Identifier: GPL-2.0-or-later
HELPERS_SERVER = helpers/sandbox.c helpers/sandbox.h helpers/server.c helpers/server.h
# Only cpid and cpi record start cpi-capture.
pkglibexec_PROGRAMS += helpers/cpi-capture
helpers_cpi_capture_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS) $(CAP_CFLAGS)
helpers_cpi_capture_SOURCES = helpers/capture_main.c helpers/capture.h \
	helpers/capture_files.c helpers/capture_open.c $(HELPERS_SERVER) helpers/capture_work.c
helpers_cpi_capture_LDADD = analysis/libanalysis.a db/libdb.a base/libbase.a \
	$(ANALYSIS_LIBS) $(ZSTD_LIBS) $(CAP_LIBS) $(NETTLE_LIBS) -lm

# Only cpid and cpi record start cpi-unwind.
if UNWIND
pkglibexec_PROGRAMS += helpers/cpi-unwind
helpers_cpi_unwind_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS) $(CAP_CFLAGS)
helpers_cpi_unwind_SOURCES = helpers/unwind_main.c helpers/unwind.h helpers/unwind_cache.c \
	helpers/unwind_signals.c helpers/unwind_worker.c $(HELPERS_SERVER)
helpers_cpi_unwind_LDADD = analysis/libanalysis.a base/libbase.a $(ANALYSIS_LIBS) \
	$(UNWIND_LIBS) $(CAP_LIBS)
else
EXTRA_DIST += helpers/unwind_main.c helpers/unwind.h helpers/unwind_cache.c \
	helpers/unwind_signals.c helpers/unwind_worker.c
endif
# Only cpid and cpi record start cpi-translate.
if WINDOWS
pkglibexec_PROGRAMS += helpers/cpi-translate
endif
helpers_cpi_translate_CFLAGS = $(AM_CFLAGS) $(CAP_CFLAGS)
helpers_cpi_translate_SOURCES = helpers/translate_main.c helpers/translate.h \
	helpers/translate_work.c $(HELPERS_SERVER)
helpers_cpi_translate_LDADD = analysis/libanalysis.a base/libbase.a $(ANALYSIS_LIBS) \
	$(CAP_LIBS)
# What asks container runtimes for names: a service of its own, for those who enable it.
pkglibexec_PROGRAMS += helpers/cpi-containers
helpers_cpi_containers_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CAP_CFLAGS) $(CURL_CFLAGS)
helpers_cpi_containers_SOURCES = helpers/containers_main.c helpers/containers.h \
	helpers/containers_ask.c helpers/containers_read.c helpers/sandbox.c helpers/sandbox.h
helpers_cpi_containers_LDADD = report/libreport.a db/libstore.a base/libbase.a \
	$(SQLITE_LIBS) $(CAP_LIBS) $(PROTOBUF_C_LIBS)
if PROTOBUF_C
helpers_cpi_containers_CFLAGS += $(PROTOBUF_C_CFLAGS)
nodist_helpers_cpi_containers_SOURCES = helpers/cri.pb-c.c helpers/cri.pb-c.h
BUILT_SOURCES += helpers/cri.pb-c.h
CLEANFILES += helpers/cri.pb-c.c helpers/cri.pb-c.h
helpers/cri.pb-c.c: helpers/cri.pb-c.h
helpers/cri.pb-c.h: helpers/cri.proto
	$(AM_V_GEN)$(MKDIR_P) helpers && \
	$(PROTOC_C) --c_out=helpers --proto_path=$(srcdir)/helpers $(srcdir)/helpers/cri.proto
endif
EXTRA_DIST += helpers/cri.proto helpers/cpi-containers.service.in
systemdsystemunit_DATA += helpers/cpi-containers.service
CLEANFILES += helpers/cpi-containers.service
helpers/cpi-containers.service: helpers/cpi-containers.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) helpers && \
	sed -e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' $(srcdir)/helpers/cpi-containers.service.in >$@
EXTRA_DIST += helpers/README.md
