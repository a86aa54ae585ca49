# SPDX-License-Identifier: GPL-2.0-or-later
# A library of its own: only cpi and cpi-ship speak to a store.
noinst_LIBRARIES += db/libstore.a
db_libstore_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(ZSTD_CFLAGS) $(NETTLE_CFLAGS) \
	$(CURL_CFLAGS)
db_libstore_a_SOURCES = \
	db/clickhouse/curlcall.c db/clickhouse/curlcall.h \
	db/clickhouse/daysums.c db/clickhouse/daysums.h \
	db/clickhouse/fleetid.c db/clickhouse/fleetid.h \
	db/clickhouse/load.c db/clickhouse/load.h db/clickhouse/load_epochs.c \
	db/clickhouse/load_fleet.c \
	db/clickhouse/load_private.h db/clickhouse/load_rows.c \
	db/clickhouse/native.c db/clickhouse/native.h \
	db/clickhouse/placesums.c db/clickhouse/placesums.h \
	db/clickhouse/rowbinary.c db/clickhouse/rowbinary.h \
	db/clickhouse/store.c db/clickhouse/store.h \
	db/clickhouse/storechoice.c db/clickhouse/storechoice.h \
	db/clickhouse/storecluster.c db/clickhouse/storecluster.h \
	db/clickhouse/storegrow.c db/clickhouse/storegrow.h \
	db/clickhouse/storehosts.c db/clickhouse/storehosts.h \
	db/clickhouse/storekeep.c db/clickhouse/storekeep.h \
	db/clickhouse/storereject.c db/clickhouse/storereject.h \
	db/clickhouse/storeschema.c db/clickhouse/storeschema.h \
	db/clickhouse/storesettings.c db/clickhouse/storesettings.h \
	db/clickhouse/storesums.c db/clickhouse/storesums.h \
	db/clickhouse/storetables.c db/clickhouse/storetables.h \
	db/clickhouse/storeurl.c db/clickhouse/storeurl.h \
	db/clickhouse/thin.h
nodist_db_libstore_a_SOURCES = db/clickhouse/storeschema_sql.h
BUILT_SOURCES += db/clickhouse/storeschema_sql.h
CLEANFILES += db/clickhouse/storeschema_sql.h
STORE_STEPS = db/clickhouse/store_1.sql db/clickhouse/store_2.sql db/clickhouse/store_3.sql \
	db/clickhouse/store_4.sql db/clickhouse/store_5.sql \
	db/clickhouse/store_6.sql db/clickhouse/store_7.sql \
	db/clickhouse/store_8.sql db/clickhouse/store_9.sql db/clickhouse/store_10.sql
EXTRA_DIST += db/clickhouse/README.md $(STORE_STEPS)

# Each version's step as a C string; comments stay in the files.
db/clickhouse/storeschema_sql.h: $(STORE_STEPS)
	$(AM_V_GEN)$(MKDIR_P) db/clickhouse && \
	for step in store_1 store_2 store_3 store_4 store_5 store_6 store_7 store_8 store_9 store_10; do \
		echo "static const char $${step}_sql[] ="; \
		sed -e '/^--/d' -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' \
			$(srcdir)/db/clickhouse/$$step.sql; \
		echo ';'; \
	done > $@.tmp && mv $@.tmp $@
db/clickhouse/libstore_a-storeschema.$(OBJEXT): db/clickhouse/storeschema_sql.h
