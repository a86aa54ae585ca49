# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/data/data_model.c analysis/data/data_model.h
EXTRA_DIST += analysis/data/README.md
