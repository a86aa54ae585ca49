# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-web is a thin main over libweb.a, so that unit tests can link the parts.

# The page. All modules become one file, and all style sheets another. Both are embedded in
# cpi-web.
WEB_MODULES = \
	web/page/api.js web/page/dom.js web/page/explain.js \
	web/page/filters.js web/page/fleet.js web/page/flame_canvas.js web/page/flame_tree.js \
	web/page/forest.js web/page/format.js web/page/heat.js web/page/hues.js \
	web/page/keys.js web/page/live.js web/page/loader.js web/page/main.js \
	web/page/plots.js web/page/presets.js web/page/range.js web/page/saves.js \
	web/page/spark.js web/page/state.js web/page/store.js web/page/table.js \
	web/page/timedata.js web/page/timeline.js web/page/timepane.js \
	web/page/truth.js web/page/view_changed.js web/page/view_flame.js \
	web/page/view_health.js web/page/view_hosts.js web/page/view_runs.js web/page/view_where.js \
	web/page/view_why.js web/page/why_code.js web/page/why_graph.js \
	web/page/why_model.js web/page/why_side.js web/page/why_values.js
WEB_STYLES = web/page/base.css web/page/table.css web/page/views.css web/page/why.css
WEB_PAGE = web/page/index.html $(WEB_MODULES) $(WEB_STYLES)

EXTRA_DIST += web/README.md web/auth/README.md web/cpi-web.service.in web/cpi-web.socket.in \
	web/bundle web/embed web/page/README.md $(WEB_PAGE)

WEB_SOURCES = \
	web/auth/login.c web/auth/login.h \
	web/auth/passwords.c web/auth/passwords.h web/auth/tls.c web/auth/tls.h \
	web/answer.c web/answer.h web/api.c web/api.h web/assets.h web/browser.c \
	web/browser.h web/cache.c web/cache.h web/conn.c \
	web/conn.h web/content.c web/content.h web/header.c web/header.h web/job.c \
	web/job.h web/listen.c web/listen.h web/loop.c web/loop.h web/metrics.c web/refusal.c web/refusal.h \
	web/options.c web/options.h web/reply.c web/reply.h web/request.c web/route.c \
	web/server.c web/server.h web/server_private.h web/spawn.c web/spawn.h \
	web/stamp.c web/stamp.h web/target.c web/target.h

if WEB
sbin_PROGRAMS += web/cpi-web
noinst_LIBRARIES += web/libweb.a
web_libweb_a_CFLAGS = $(AM_CFLAGS) $(MICROHTTPD_CFLAGS) $(GNUTLS_CFLAGS) $(ZLIB_CFLAGS) $(NETTLE_CFLAGS) \
	$(SQLITE_CFLAGS) -DCPI_PROGRAM='"$(bindir)/cpi"'
web_libweb_a_SOURCES = $(WEB_SOURCES)
nodist_web_libweb_a_SOURCES = web/assets.c
web_cpi_web_CFLAGS = $(web_libweb_a_CFLAGS)
web_cpi_web_SOURCES = web/main.c
web_cpi_web_LDADD = web/libweb.a db/libstore.a db/libdb.a base/libbase.a $(MICROHTTPD_LIBS) $(GNUTLS_LIBS) -lcrypt \
	$(ZLIB_LIBS) $(NETTLE_LIBS) $(SQLITE_LIBS) $(ZSTD_LIBS)

# Only for those who enable it: systemctl enable --now cpi-web.socket.
dist_doc_DATA += web/cpi-web.conf
systemdsystemunit_DATA += web/cpi-web.service web/cpi-web.socket
CLEANFILES += web/assets.c web/page.css web/page.js web/cpi-web.service web/cpi-web.socket
web/cpi-web.service: web/cpi-web.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) web && \
	sed -e 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/web/cpi-web.service.in >$@
web/cpi-web.socket: web/cpi-web.socket.in
	$(AM_V_GEN)$(MKDIR_P) web && cp $(srcdir)/web/cpi-web.socket.in $@
web/assets.c: web/bundle web/embed web/local.mk $(WEB_PAGE)
	$(AM_V_GEN)$(MKDIR_P) web && \
	(cd $(srcdir) && web/bundle $(WEB_MODULES)) >web/page.js && \
	(cd $(srcdir) && cat $(WEB_STYLES)) >web/page.css && \
	$(srcdir)/web/embed $(srcdir)/web/page/index.html web/page.css web/page.js >$@.tmp && \
	mv $@.tmp $@
else
EXTRA_DIST += $(WEB_SOURCES) web/main.c web/cpi-web.conf
endif
