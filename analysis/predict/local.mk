# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/predict/branch_history.c analysis/predict/branch_history.h \
	analysis/predict/mispredicts.c analysis/predict/mispredicts.h
EXTRA_DIST += analysis/predict/README.md
