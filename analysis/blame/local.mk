# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/blame/blame.c analysis/blame/blame.h analysis/blame/blame_address.c \
	analysis/blame/blame_address.h analysis/blame/blame_branch.c \
	analysis/blame/blame_costs.c analysis/blame/blame_costs.h \
	analysis/blame/blame_case.c analysis/blame/blame_case.h \
	analysis/blame/blame_data.c analysis/blame/blame_fetch.c \
	analysis/blame/blame_path.c analysis/blame/blame_path.h \
	analysis/blame/blame_sum.c analysis/blame/blame_units.c
EXTRA_DIST += analysis/blame/README.md
