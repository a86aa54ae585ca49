# SPDX-License-Identifier: GPL-2.0-or-later
daemon_libdaemon_a_SOURCES += \
	daemon/stacks/imagenumbers.c daemon/stacks/imagenumbers.h \
	daemon/stacks/stacksampler.c daemon/stacks/stacksampler.h \
	daemon/stacks/stacktally.c daemon/stacks/stacktally.h \
	daemon/stacks/unwind_child.c daemon/stacks/unwind_child.h \
	daemon/stacks/unwindcodes.c daemon/stacks/unwindcodes.h \
	daemon/stacks/unwinding.c daemon/stacks/unwinding.h
EXTRA_DIST += daemon/stacks/README.md
