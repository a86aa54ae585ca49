# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/values/loop_runs.c analysis/values/loop_runs.h \
	analysis/values/operand_values.c analysis/values/operand_values.h \
	analysis/values/values.c analysis/values/values.h
EXTRA_DIST += analysis/values/README.md
