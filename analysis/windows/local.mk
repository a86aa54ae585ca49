# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/windows/block_counts.c analysis/windows/block_counts.h \
	analysis/windows/codepack.c analysis/windows/codepack.h \
	analysis/windows/pathcount.c analysis/windows/pathcount.h \
	analysis/windows/pathwalk.c analysis/windows/pathwalk.h \
	analysis/windows/steps.c analysis/windows/steps.h \
	analysis/windows/walk.c analysis/windows/walk.h \
	analysis/windows/window_weights.c analysis/windows/window_weights.h
EXTRA_DIST += analysis/windows/README.md
