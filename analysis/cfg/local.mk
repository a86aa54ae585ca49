# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/cfg/cfg.c analysis/cfg/cfg.h analysis/cfg/cfg_code.c \
	analysis/cfg/cfg_code.h analysis/cfg/cfg_noreturn.c analysis/cfg/cfg_table.c \
	analysis/cfg/cfg_value.c analysis/cfg/cfg_value.h analysis/cfg/equiv.c \
	analysis/cfg/equiv.h analysis/cfg/loops.c analysis/cfg/loops.h \
	analysis/cfg/trips.c analysis/cfg/trips.h
EXTRA_DIST += analysis/cfg/README.md
