# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/compare/diff.c report/compare/diff.h report/compare/diff_frames.c \
	report/compare/diff_frames.h report/compare/diff_gate.c report/compare/diff_gate.h \
	report/compare/diff_history.c \
	report/compare/diff_judge.c report/compare/diff_match.c \
	report/compare/diff_parts.c report/compare/diff_parts.h \
	report/compare/diff_procedure.c report/compare/diff_procedure.h \
	report/compare/diff_runs.c report/compare/diff_runs.h \
	report/compare/matrix.c report/compare/matrix.h report/compare/matrix_evidence.c \
	report/compare/matrix_evidence.h report/compare/matrix_rows.c \
	report/compare/matrix_rows.h report/compare/matrix_spans.c \
	report/compare/matrix_spans.h report/compare/stats.c report/compare/stats.h \
	report/compare/stats_busy.c report/compare/stats_busy.h \
	report/compare/stats_category.c
EXTRA_DIST += report/compare/README.md
