# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/trace/pairs.c analysis/trace/pairs.h analysis/trace/tip.c \
	analysis/trace/tip.h analysis/trace/trace.c analysis/trace/trace.h \
	analysis/trace/trace_kanata.c analysis/trace/trace_o3.c \
	analysis/trace/trace_tokens.c
EXTRA_DIST += analysis/trace/README.md
