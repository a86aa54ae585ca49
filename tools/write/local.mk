# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += \
	tools/write/calc_json.c tools/write/calc_print.c tools/write/calls.h \
	tools/write/calls_print.c tools/write/cfg_dot.c \
	tools/write/cfg_dot.h tools/write/children_print.c tools/write/compare.h \
	tools/write/cyclestack_print.c tools/write/diff_print.c \
	tools/write/diff_procedure_print.c tools/write/diff_svg.c tools/write/explain.h \
	tools/write/explanation_print.c tools/write/compiler_profile_print.c \
	tools/write/compiler_profile_print.h tools/write/flame.c tools/write/flame.h \
	tools/write/inlined_print.c \
	tools/write/list_print.c tools/write/list_source_print.c \
	tools/write/matrix_print.c tools/write/paths_print.c tools/write/values_print.c \
	tools/write/plain_name.c tools/write/plain_name.h tools/write/prof_print.c \
	tools/write/prof_svg.c tools/write/profile.h tools/write/ranking_print.c \
	tools/write/records_json.c tools/write/records_print.c tools/write/report.c \
	tools/write/report.h tools/write/stats_print.c \
	tools/write/status_summary.c tools/write/status_summary.h \
	tools/write/summary_print.c \
	tools/write/tip_svg.c tools/write/tip_svg.h tools/write/tree_print.c \
	tools/write/context_print.c
nodist_tools_libtools_a_SOURCES += tools/write/flame_parts.h
EXTRA_DIST += tools/write/flame.css tools/write/flame.js
BUILT_SOURCES += tools/write/flame_parts.h
CLEANFILES += tools/write/flame_parts.h

# The picture's style and script as C strings.
tools/write/flame_parts.h: tools/write/flame.css tools/write/flame.js
	$(AM_V_GEN)$(MKDIR_P) tools/write && \
	for part in css js; do \
		echo "static const char flame_$$part[] ="; \
		sed -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' \
			$(srcdir)/tools/write/flame.$$part; \
		echo ';'; \
	done > $@.tmp && mv $@.tmp $@
tools/write/libtools_a-flame.$(OBJEXT): tools/write/flame_parts.h
EXTRA_DIST += tools/write/README.md
