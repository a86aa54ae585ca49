# SPDX-License-Identifier: GPL-2.0-or-later
# cpi is a thin main over libtools.a, so that unit tests can link the parts.
bin_PROGRAMS += tools/cpi
noinst_LIBRARIES += tools/libtools.a
tools_libtools_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CAP_CFLAGS) $(NCURSES_CFLAGS) \
	$(DEBUGINFOD_CFLAGS)
tools_libtools_a_SOURCES = \
	tools/cgroupname.c tools/cgroupname.h \
	tools/cmd.c tools/cmd.h \
	tools/anchoring.c tools/anchoring.h \
	tools/attribution.c tools/attribution.h \
	tools/calc.c tools/calc.h \
	tools/calc_json.c \
	tools/cat_stacks.c tools/cat_stacks.h \
	tools/cat_windows.c tools/cat_windows.h \
	tools/calc_print.c \
	tools/calls.c tools/calls.h \
	tools/calls_find.c \
	tools/calls_print.c \
	tools/cfg_dot.c tools/cfg_dot.h \
	tools/cmd_calc.c \
	tools/cat_edges.c tools/cat_edges.h \
	tools/cmd_callees.c \
	tools/cmd_callers.c \
	tools/cmd_cat.c \
	tools/cmd_cfg.c \
	tools/cmd_diff.c \
	tools/cmd_epoch.c \
	tools/cmd_export.c \
	tools/cmd_flame.c \
	tools/cmd_flush.c \
	tools/cmd_help.c \
	tools/cmd_hot.c \
	tools/cmd_import.c \
	tools/cmd_label.c \
	tools/cmd_list.c \
	tools/cmd_pairs.c \
	tools/cmd_paths.c \
	tools/cmd_prof.c \
	tools/cmd_rate.c \
	tools/cmd_record.c \
	tools/cmd_records.c \
	tools/cmd_register.c \
	tools/cmd_stalls.c \
	tools/cmd_stats.c \
	tools/cmd_status.c \
	tools/cmd_sum.c \
	tools/cmd_tip.c \
	tools/cmd_top.c \
	tools/cmd_tree.c \
	tools/ctl.c tools/ctl.h \
	tools/culprits.c tools/culprits.h \
	tools/cyclestack.c tools/cyclestack.h tools/cyclestack_print.c \
	tools/diff.c tools/diff.h \
	tools/diff_history.c \
	tools/diff_judge.c \
	tools/diff_match.c \
	tools/diff_parts.c tools/diff_parts.h \
	tools/diff_print.c \
	tools/diff_procedure.c tools/diff_procedure.h \
	tools/diff_svg.c \
	tools/events.c tools/events.h \
	tools/explaining.c tools/explaining.h \
	tools/explaining_each.c \
	tools/explaining_text.c \
	tools/export.h \
	tools/export_bolt.c \
	tools/export_callgrind.c \
	tools/export_collapsed.c \
	tools/export_firefox.c \
	tools/export_gcov.c \
	tools/export_llvm.c \
	tools/export_llvm_binary.c \
	tools/export_speedscope.c \
	tools/export_unsymbolized.c \
	tools/feeding.c tools/feeding.h \
	tools/feeding_carry.c \
	tools/feeding_check.c \
	tools/feeding_sources.c \
	tools/feeding_warn.c \
	tools/flame.c tools/flame.h \
	tools/flame_diff.c tools/flame_diff.h \
	tools/following.c tools/following.h \
	tools/frames.c tools/frames.h \
	tools/help.c tools/help.h \
	tools/imagecache.c tools/imagecache.h \
	tools/inlined.c tools/inlined.h \
	tools/json.c tools/json.h \
	tools/list_decode.c tools/list.h \
	tools/list_find.c \
	tools/list_print.c \
	tools/list_source.c \
	tools/matrix.c tools/matrix.h \
	tools/matrix_print.c tools/matrix_print.h \
	tools/matrix_rows.c tools/matrix_rows.h \
	tools/matrix_spans.c tools/matrix_spans.h \
	tools/nearest.c tools/nearest.h \
	tools/optional.h \
	tools/out.c tools/out.h \
	tools/paths.h tools/paths_print.c \
	tools/picture.c tools/picture.h \
	tools/procname.c tools/procname.h \
	tools/prof.c tools/prof.h tools/prof_combine.c \
	tools/prof_children.c tools/prof_children.h \
	tools/prof_print.c \
	tools/prof_rows.c tools/prof_rows.h \
	tools/prof_svg.c \
	tools/prof_time.c tools/prof_time.h \
	tools/progress.c tools/progress.h \
	tools/ranking.c tools/ranking.h \
	tools/records.h tools/records_find.c \
	tools/records_json.c \
	tools/records_print.c \
	tools/remote.c tools/remote.h \
	tools/replay.c tools/replay.h \
	tools/report.c tools/report.h \
	tools/retaining.c tools/retaining.h \
	tools/runs.c tools/runs.h \
	tools/select.c tools/select.h \
	tools/select_stacks.c tools/select_stacks.h \
	tools/source.c tools/source.h \
	tools/spark.c tools/spark.h \
	tools/spots.c tools/spots.h \
	tools/stats.c tools/stats.h \
	tools/stats_busy.c tools/stats_busy.h \
	tools/stats_category.c \
	tools/stats_print.c \
	tools/strings.c tools/strings.h \
	tools/summary.c tools/summary.h \
	tools/table.c tools/table.h \
	tools/table_text.c tools/table_cells.h \
	tools/term.c tools/term.h \
	tools/text.c tools/text.h \
	tools/timesource.c tools/timesource.h \
	tools/tip_records.c tools/tip_records.h \
	tools/tip_svg.c tools/tip_svg.h \
	tools/together.c tools/together.h \
	tools/top.c tools/top.h \
	tools/top_feed.c tools/top_feed.h \
	tools/top_screen.c tools/top_screen.h \
	tools/tracefile.c tools/tracefile.h \
	tools/tree.c tools/tree.h \
	tools/tree_print.c \
	tools/unpack.c tools/unpack.h \
	tools/weighed.h \
	tools/weighed_frames.c tools/weighed_frames.h \
	tools/weighed_labels.c tools/weighed_labels.h \
	tools/weighed_places.c tools/weighed_places.h \
	tools/weighed_tree.c tools/weighed_tree.h \
	tools/weighing.c tools/weighing.h \
	tools/weighing_flat.c \
	tools/weighing_stacks.c \
	tools/whom.c tools/whom.h \
	tools/xml.c tools/xml.h
nodist_tools_libtools_a_SOURCES = tools/flame_parts.h
EXTRA_DIST += tools/flame.css tools/flame.js
BUILT_SOURCES += tools/flame_parts.h
CLEANFILES += tools/flame_parts.h

# The picture's style and script as C strings.
tools/flame_parts.h: tools/flame.css tools/flame.js
	$(AM_V_GEN)$(MKDIR_P) tools && \
	for part in css js; do \
		echo "static const char flame_$$part[] ="; \
		sed -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' $(srcdir)/tools/flame.$$part; \
		echo ';'; \
	done > $@.tmp && mv $@.tmp $@
tools/libtools_a-flame.$(OBJEXT): tools/flame_parts.h

# pprof's format.
if PROTOBUF_C
tools_libtools_a_CFLAGS += $(PROTOBUF_C_CFLAGS)
tools_libtools_a_SOURCES += tools/export_pprof.c
nodist_tools_libtools_a_SOURCES += tools/pprof.pb-c.c tools/pprof.pb-c.h
BUILT_SOURCES += tools/pprof.pb-c.h
CLEANFILES += tools/pprof.pb-c.c tools/pprof.pb-c.h
tools/libtools_a-export_pprof.$(OBJEXT): tools/pprof.pb-c.h
tools/pprof.pb-c.c: tools/pprof.pb-c.h
tools/pprof.pb-c.h: tools/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) tools && \
	$(PROTOC_C) --c_out=. --proto_path=$(srcdir) $(srcdir)/tools/pprof.proto
endif
EXTRA_DIST += tools/pprof.proto

tools_cpi_SOURCES = tools/main.c
tools_cpi_LDADD = tools/libtools.a daemon/libdaemon.a analysis/libanalysis.a db/libdb.a \
	base/libbase.a $(ANALYSIS_LIBS) $(SQLITE_LIBS) $(ZSTD_LIBS) $(CAP_LIBS) $(NETTLE_LIBS) \
	$(DEBUGINFOD_LIBS) $(PFM_LIBS) $(BPF_LIBS) $(NCURSES_LIBS) $(PROTOBUF_C_LIBS) \
	$(ZLIB_LIBS) -lm

# The capture's server is cpid's and cpi record's alone.
pkglibexec_PROGRAMS += tools/cpi-capture
tools_cpi_capture_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS) $(CAP_CFLAGS)
tools_cpi_capture_SOURCES = tools/capture_main.c tools/capture.h \
	tools/capture_files.c tools/sandbox.c tools/sandbox.h tools/capture_work.c
tools_cpi_capture_LDADD = daemon/libdaemon.a analysis/libanalysis.a db/libdb.a \
	base/libbase.a $(ANALYSIS_LIBS) $(ZSTD_LIBS) $(CAP_LIBS) $(NETTLE_LIBS) -lm

# So is what unwinds stacks.
if UNWIND
pkglibexec_PROGRAMS += tools/cpi-unwind
tools_cpi_unwind_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS) $(CAP_CFLAGS)
tools_cpi_unwind_SOURCES = tools/unwind_main.c tools/unwind.h tools/unwind_cache.c \
	tools/unwind_signals.c tools/unwind_worker.c tools/sandbox.c tools/sandbox.h
tools_cpi_unwind_LDADD = analysis/libanalysis.a base/libbase.a $(ANALYSIS_LIBS) \
	$(UNWIND_LIBS) $(CAP_LIBS)
else
EXTRA_DIST += tools/unwind_main.c tools/unwind.h tools/unwind_cache.c \
	tools/unwind_signals.c tools/unwind_worker.c
endif
# So is what translates code.
if WINDOWS
pkglibexec_PROGRAMS += tools/cpi-translate
endif
tools_cpi_translate_CFLAGS = $(AM_CFLAGS) $(CAP_CFLAGS)
tools_cpi_translate_SOURCES = tools/translate_main.c tools/sandbox.c tools/sandbox.h
tools_cpi_translate_LDADD = analysis/libanalysis.a base/libbase.a $(ANALYSIS_LIBS) \
	$(CAP_LIBS)

# What a shell completes comes from the option records, too.
bashcompletiondir = $(datadir)/bash-completion/completions
if !CROSS
bashcompletion_DATA = completions/cpi
endif
CLEANFILES += completions/cpi
completions/cpi: tools/cpi
	$(AM_V_GEN)$(MKDIR_P) completions && tools/cpi help --completion >$@.tmp && \
		mv $@.tmp $@
