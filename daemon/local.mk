# SPDX-License-Identifier: GPL-2.0-or-later
# Everything but main.c, so that cpi record can have a session of its own.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_CFLAGS = $(AM_CFLAGS) -DPKGLIBEXECDIR='"$(pkglibexecdir)"' $(ELF_CFLAGS) $(SQLITE_CFLAGS) $(CAP_CFLAGS) $(NETTLE_CFLAGS)
daemon_libdaemon_a_SOURCES =

sbin_PROGRAMS += daemon/cpid
daemon_cpid_SOURCES = daemon/control/main.c
daemon_cpid_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
daemon_cpid_LDADD = daemon/libdaemon.a analysis/libanalysis.a db/libdb.a base/libbase.a $(SQLITE_LIBS) \
	$(ZSTD_LIBS) $(ELF_LIBS) $(CAP_LIBS) $(NETTLE_LIBS) $(PFM_LIBS) $(BPF_LIBS) -lm

systemdsystemunit_DATA = daemon/cpid.service
sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = daemon/cpi.conf
EXTRA_DIST += daemon/cpid.service.in
dist_doc_DATA += daemon/cpid.conf
CLEANFILES += daemon/cpid.service

daemon/cpid.service: daemon/cpid.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) daemon && \
	sed -e 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/daemon/cpid.service.in >$@
