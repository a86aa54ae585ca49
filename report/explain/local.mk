# SPDX-License-Identifier: GPL-2.0-or-later
report_libreport_a_SOURCES += \
	report/explain/calc.c report/explain/calc.h report/explain/culprits.c \
	report/explain/culprits.h report/explain/cyclestack.c \
	report/explain/cyclestack.h report/explain/data_text.c \
	report/explain/data_text.h report/explain/explainer.c \
	report/explain/explainer.h report/explain/explainer_each.c \
	report/explain/explainer_evidence.c report/explain/explainer_pace.c \
	report/explain/explainer_parts.c report/explain/explainer_private.h \
	report/explain/explainer_text.c \
	report/explain/geometry.c report/explain/geometry.h \
	report/explain/hotspots.c report/explain/hotspots.h report/explain/list.h report/explain/list_decode.c report/explain/list_lines.c \
	report/explain/paths.h report/explain/paths_find.c report/explain/place.h \
	report/explain/place_find.c report/explain/ranking.c report/explain/ranking.h \
	report/explain/records.h report/explain/records_find.c report/explain/scope.c \
	report/explain/scope.h report/explain/ranked_insns.c report/explain/ranked_insns.h \
	report/explain/selected_accesses.c report/explain/selected_accesses.h \
	report/explain/selected_windows.c report/explain/selected_windows.h \
	report/explain/summary.c report/explain/summary.h \
	report/explain/values.h report/explain/values_find.c report/explain/values_operands.c
EXTRA_DIST += report/explain/README.md
