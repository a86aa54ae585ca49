# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/attribute/attribute.c daemon/attribute/attribute.h \
	daemon/attribute/attribute_branches.c daemon/attribute/attribute_later.c \
	daemon/attribute/attribute_outcome.c \
	daemon/attribute/attribute_private.h daemon/attribute/attribute_stack.c \
	daemon/attribute/tally.c daemon/attribute/tally.h \
	daemon/attribute/tally_edges.c
EXTRA_DIST += daemon/attribute/README.md
