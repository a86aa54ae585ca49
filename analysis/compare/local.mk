# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/compare/compare.c analysis/compare/compare.h \
	analysis/compare/compare_parts.c analysis/compare/compare_parts.h \
	analysis/compare/compare_prior.c analysis/compare/compare_prior.h \
	analysis/compare/compare_size.c analysis/compare/compare_size.h \
	analysis/compare/outliers.c analysis/compare/outliers.h \
	analysis/compare/similar.c analysis/compare/similar.h
EXTRA_DIST += analysis/compare/README.md
