# SPDX-License-Identifier: GPL-2.0-or-later
# These are in base's library. A program links only the objects that it uses.
base_libbase_a_SOURCES += \
	service/confine.c service/confine.h \
	service/keepalive.c service/keepalive.h service/keyfile.c service/keyfile.h \
	service/metricsfile.c service/metricsfile.h service/notify.c service/notify.h \
	service/options.c service/options.h service/options_private.h \
	service/options_publish.c service/options_publish.h \
	service/options_read.c service/options_reload.c \
	service/prometheus.c service/prometheus.h \
	service/shipconfig.c service/shipconfig.h service/signals.c service/signals.h \
	service/unitfile.c service/unitfile.h service/unitfile_read.c
EXTRA_DIST += service/README.md
