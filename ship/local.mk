# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-ship is a thin main over libship.a, so that unit tests can link the parts.
sbin_PROGRAMS += ship/cpi-ship
noinst_LIBRARIES += ship/libship.a
ship_libship_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
ship_libship_a_SOURCES = \
	ship/address.c ship/address.h ship/budget.c ship/budget.h ship/contained.c ship/contained.h \
	ship/cursor.c ship/cursor.h ship/due.c ship/due.h \
	ship/holes.c ship/holes.h \
	ship/names.c ship/names.h ship/notes.c ship/notes.h \
	ship/origin.c ship/origin.h \
	ship/options.c ship/options.h ship/rewind.c ship/rewind.h \
	ship/rows.c ship/rows.h ship/ship.c ship/ship.h \
	ship/status.c ship/status.h ship/sums.c ship/sums.h ship/thin.c ship/thin.h
ship_cpi_ship_CFLAGS = $(ship_libship_a_CFLAGS)
ship_cpi_ship_SOURCES = ship/main.c
ship_cpi_ship_LDADD = ship/libship.a db/libstore.a db/libdb.a base/libbase.a \
	$(SQLITE_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) -lm
EXTRA_DIST += ship/README.md ship/cpi-ship.service.in

# Packages take it to /etc/cpi.
dist_doc_DATA += ship/cpi-ship.conf

# Only for those who enable it, after /etc/cpi/cpi-ship.conf names a store.
systemdsystemunit_DATA += ship/cpi-ship.service
CLEANFILES += ship/cpi-ship.service
ship/cpi-ship.service: ship/cpi-ship.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) ship && \
	sed -e 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/ship/cpi-ship.service.in >$@
