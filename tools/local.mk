# SPDX-License-Identifier: GPL-2.0-or-later
# cpi is a thin main over libtools.a, so that unit tests can link the parts.
bin_PROGRAMS += tools/cpi
noinst_LIBRARIES += tools/libtools.a
tools_libtools_a_CFLAGS = $(AM_CFLAGS) -DSBINDIR='"$(sbindir)"' $(SQLITE_CFLAGS) $(CAP_CFLAGS) $(NCURSES_CFLAGS)
nodist_tools_libtools_a_SOURCES =
tools_libtools_a_SOURCES = \
	tools/cmd_calc.c tools/cmd_callees.c tools/cmd_callers.c tools/cmd_cat.c \
	tools/cmd_cfg.c tools/cmd_config.c tools/cmd_doctor.c tools/cmd_diff.c tools/cmd_epoch.c tools/cmd_export.c \
	tools/cmd_flame.c tools/cmd_fleet.c tools/cmd_flush.c tools/cmd_help.c tools/cmd_hot.c \
	tools/cmd_import.c tools/cmd_label.c tools/cmd_list.c tools/cmd_mark.c tools/cmd_pairs.c \
	tools/cmd_paths.c tools/cmd_prof.c tools/cmd_rate.c tools/cmd_record.c \
	tools/cmd_records.c tools/cmd_register.c tools/cmd_stalls.c tools/cmd_stats.c \
	tools/cmd_status.c tools/cmd_sum.c tools/cmd_tip.c tools/cmd_top.c \
	tools/cmd_tree.c tools/cmd_values.c tools/cmd_web.c tools/commands.c tools/commands.h tools/ctl.c tools/ctl.h \
	tools/options.c tools/options.h \
	tools/tree.c tools/tree.h

tools_cpi_SOURCES = tools/main.c
tools_cpi_LDFLAGS = $(AM_LDFLAGS) $(RELR_LDFLAGS)
tools_cpi_LDADD = tools/libtools.a report/libreport.a daemon/libdaemon.a analysis/libanalysis.a db/libstore.a db/libdb.a \
	base/libbase.a $(ANALYSIS_LIBS) $(SQLITE_LIBS) $(ZSTD_LIBS) $(CAP_LIBS) $(NETTLE_LIBS) \
	$(PFM_LIBS) $(BPF_LIBS) $(NCURSES_LIBS) $(PROTOBUF_C_LIBS) \
	$(ZLIB_LIBS) -lm

# What a shell completes comes from the option records, too.
bashcompletiondir = $(datadir)/bash-completion/completions
if !CROSS
bashcompletion_DATA = completions/cpi
endif
CLEANFILES += completions/cpi
completions/cpi: tools/cpi
	$(AM_V_GEN)$(MKDIR_P) completions && $(EMULATOR) tools/cpi help --completion >$@.tmp && \
		mv $@.tmp $@
EXTRA_DIST += tools/README.md
