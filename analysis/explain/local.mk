# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/explain/callgraph.c analysis/explain/callgraph.h \
	analysis/explain/explain.c analysis/explain/explain.h
EXTRA_DIST += analysis/explain/README.md
