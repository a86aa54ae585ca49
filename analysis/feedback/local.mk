# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/feedback/feedback.c analysis/feedback/feedback.h \
	analysis/feedback/feedback_carry.c analysis/feedback/feedback_carry.h \
	analysis/feedback/feedback_finish.c
EXTRA_DIST += analysis/feedback/README.md
