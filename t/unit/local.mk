# SPDX-License-Identifier: GPL-2.0-or-later
# One program per source file that is tested: t/unit/check_<file>.c.
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LDADD = base/libbase.a $(CHECK_LIBS)
UNIT = t/unit/check_arena t/unit/check_base t/unit/check_entry t/unit/check_branch \
	t/unit/check_branch_pair t/unit/check_file \
	t/unit/check_mapping t/unit/check_prometheus \
	t/unit/check_rangemap t/unit/check_seal t/unit/check_table t/unit/check_text t/unit/check_top
check_PROGRAMS += $(UNIT)
QUICK_TESTS += $(UNIT)
EXTRA_DIST += t/unit/random.h t/unit/refuse_call.h t/unit/unit.h t/unit/unit_images.h

t_unit_check_arena_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_arena_LDADD = $(UNIT_LDADD)
t_unit_check_base_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_base_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=close_range
t_unit_check_base_LDADD = $(UNIT_LDADD)
t_unit_check_file_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_file_LDADD = $(UNIT_LDADD)
t_unit_check_entry_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_entry_LDADD = $(UNIT_LDADD)
t_unit_check_branch_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_branch_LDADD = $(UNIT_LDADD)
t_unit_check_branch_pair_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_branch_pair_LDADD = $(UNIT_LDADD)
t_unit_check_mapping_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_mapping_LDADD = $(UNIT_LDADD)
t_unit_check_prometheus_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_prometheus_LDADD = daemon/libdaemon.a $(UNIT_LDADD)
t_unit_check_rangemap_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_rangemap_LDADD = $(UNIT_LDADD)
t_unit_check_seal_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_seal_LDADD = $(UNIT_LDADD)
t_unit_check_table_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_table_LDADD = $(UNIT_LDADD)
t_unit_check_text_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_text_LDADD = tools/libtools.a report/libreport.a $(UNIT_LDADD)
t_unit_check_top_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += t/unit/check_data_text t/unit/check_geometry t/unit/check_symbolfile t/unit/check_imagetrail t/unit/check_callsfile t/unit/check_workers
QUICK_TESTS += t/unit/check_data_text t/unit/check_geometry t/unit/check_symbolfile t/unit/check_imagetrail t/unit/check_callsfile t/unit/check_workers
t_unit_check_data_text_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_data_text_LDADD = report/libreport.a analysis/libanalysis.a db/libdb.a $(UNIT_LDADD) $(ZSTD_LIBS) -lm
t_unit_check_geometry_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_geometry_LDADD = report/libreport.a $(UNIT_LDADD)
t_unit_check_workers_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_workers_LDADD = report/libreport.a $(UNIT_LDADD)
t_unit_check_callsfile_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_callsfile_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
t_unit_check_imagetrail_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_imagetrail_LDADD = report/libreport.a $(UNIT_LDADD)
t_unit_check_symbolfile_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_symbolfile_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
t_unit_check_top_LDADD = tools/libtools.a report/libreport.a analysis/libanalysis.a \
	db/libstore.a db/libdb.a $(UNIT_LDADD) $(ANALYSIS_LIBS) $(SQLITE_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS)

# The server of the page: what it reads of a request.
if WEB
check_PROGRAMS += t/unit/check_web
QUICK_TESTS += t/unit/check_web
endif
t_unit_check_web_SOURCES = t/unit/check_web.c
t_unit_check_web_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_web_LDADD = web/libweb.a db/libstore.a $(UNIT_LDADD) $(web_cpi_web_LDADD)

# The daemon's shell: no session is linked, where one is needed the test has it.
DAEMON_UNIT = t/unit/check_alert \
	t/unit/check_askers \
	t/unit/check_budget \
	t/unit/check_calibrate \
	t/unit/check_control \
	t/unit/check_foreignfds \
	t/unit/check_keepalive \
	t/unit/check_nodes \
	t/unit/check_metrics \
	t/unit/check_notify \
	t/unit/check_options \
	t/unit/check_privileges \
	t/unit/check_unitfile
check_PROGRAMS += $(DAEMON_UNIT)
QUICK_TESTS += $(DAEMON_UNIT)
DAEMON_UNIT_LDADD = daemon/libdaemon.a $(UNIT_LDADD) $(CAP_LIBS)
t_unit_check_alert_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_alert_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_askers_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_askers_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_foreignfds_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_foreignfds_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fork
t_unit_check_foreignfds_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_keepalive_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_keepalive_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_budget_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_budget_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_calibrate_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_calibrate_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_control_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_control_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=foreignfds_close,--wrap=setsockopt
t_unit_check_control_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_nodes_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_nodes_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_metrics_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_metrics_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_notify_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_notify_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_options_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_options_LDADD = daemon/libdaemon.a db/libdb.a $(UNIT_LDADD) $(CAP_LIBS)
t_unit_check_unitfile_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_unitfile_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_privileges_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_privileges_LDADD = $(DAEMON_UNIT_LDADD)
# Tests of db/.
DB_UNIT = t/unit/check_accesses t/unit/check_edges t/unit/check_profile t/unit/check_codec t/unit/check_store \
	t/unit/check_copy t/unit/check_db t/unit/check_db_calls t/unit/check_db_root t/unit/check_plans \
	t/unit/check_kept_sums t/unit/check_operands t/unit/check_query t/unit/check_records t/unit/check_retain t/unit/check_retain_clock \
	t/unit/check_rollup t/unit/check_stacks t/unit/check_stacktree \
	t/unit/check_stream_account t/unit/check_vfs \
	t/unit/check_window_rows t/unit/check_windows
DB_UNIT_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS) $(ZSTD_CFLAGS)
DB_UNIT_LDADD = db/libdb.a base/libbase.a $(SQLITE_LIBS) $(ZSTD_LIBS) $(CHECK_LIBS) -lm
# Each write fails, is torn, or is the last one.
DB_LONG_UNIT = t/unit/check_db_faults t/unit/check_db_torn t/unit/check_retain_killed \
	t/unit/check_edges_full
check_PROGRAMS += $(DB_UNIT) $(DB_LONG_UNIT)
QUICK_TESTS += $(DB_UNIT)
LONG_TESTS += $(DB_LONG_UNIT)
EXTRA_DIST += t/unit/dbtest.h t/unit/retain_make.h

t_unit_check_accesses_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_accesses_LDADD = $(DB_UNIT_LDADD)
t_unit_check_operands_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_operands_LDADD = $(DB_UNIT_LDADD)
t_unit_check_profile_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_profile_LDADD = $(DB_UNIT_LDADD)
t_unit_check_edges_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_edges_LDADD = $(DB_UNIT_LDADD)
t_unit_check_edges_full_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_edges_full_LDADD = $(DB_UNIT_LDADD)
t_unit_check_records_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_records_LDADD = $(DB_UNIT_LDADD)
t_unit_check_codec_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_codec_LDADD = $(DB_UNIT_LDADD)
t_unit_check_stacks_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_stacks_LDADD = $(DB_UNIT_LDADD)
t_unit_check_stacktree_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_stacktree_LDADD = $(DB_UNIT_LDADD)
t_unit_check_stream_account_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_stream_account_LDADD = $(DB_UNIT_LDADD)
t_unit_check_window_rows_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_window_rows_LDADD = $(DB_UNIT_LDADD)
t_unit_check_windows_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_windows_LDADD = $(DB_UNIT_LDADD)

# The daemon's collection.
COLLECT_UNIT = t/unit/check_accounts t/unit/check_attribute t/unit/check_attribute_stack t/unit/check_collect t/unit/check_jit t/unit/check_kernel \
	t/unit/check_jitmap t/unit/check_jittables t/unit/check_procmap \
	t/unit/check_sampler t/unit/check_sideband t/unit/check_threadmap
check_PROGRAMS += $(COLLECT_UNIT)
QUICK_TESTS += $(COLLECT_UNIT)
COLLECT_LDADD = daemon/libdaemon.a analysis/libanalysis.a db/libdb.a $(UNIT_LDADD) \
	$(SQLITE_LIBS) $(ZSTD_LIBS) $(ELF_LIBS) $(CAP_LIBS) $(NETTLE_LIBS) $(PFM_LIBS) $(BPF_LIBS) -lm
t_unit_check_accounts_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_accounts_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_attribute_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_attribute_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=timed_child_ask,--wrap=timed_child_ask_for,--wrap=procroot_peek,--wrap=file_read_all
t_unit_check_attribute_LDADD = $(COLLECT_LDADD)
t_unit_check_attribute_stack_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_attribute_stack_LDADD = $(COLLECT_LDADD)
t_unit_check_collect_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_collect_LDADD = $(COLLECT_LDADD)
t_unit_check_kernel_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_kernel_LDADD = $(COLLECT_LDADD)
t_unit_check_jit_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_jit_LDADD = $(COLLECT_LDADD)
t_unit_check_jitmap_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_jitmap_LDADD = $(COLLECT_LDADD)
t_unit_check_jittables_CFLAGS = $(UNIT_CFLAGS) $(ELF_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_jittables_LDADD = $(COLLECT_LDADD)
t_unit_check_procmap_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_procmap_LDADD = $(COLLECT_LDADD)
t_unit_check_sampler_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_sampler_LDADD = $(COLLECT_LDADD)
t_unit_check_sideband_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_sideband_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=perfev_open,--wrap=time_mono_ns,--wrap=read
t_unit_check_sideband_LDADD = $(COLLECT_LDADD)
t_unit_check_threadmap_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_threadmap_LDADD = $(COLLECT_LDADD)
# What the loader hook says.
check_PROGRAMS += t/unit/check_announce t/unit/check_announced t/unit/check_announcement
QUICK_TESTS += t/unit/check_announce t/unit/check_announced t/unit/check_announcement
t_unit_check_announce_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_announce_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=foreignfds_came,--wrap=foreignfds_drop
t_unit_check_announce_LDADD = $(COLLECT_LDADD)
t_unit_check_announced_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_announced_LDADD = $(COLLECT_LDADD)
t_unit_check_announcement_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_announcement_LDADD = $(DAEMON_UNIT_LDADD)
check_PROGRAMS += t/unit/check_tipfile
QUICK_TESTS += t/unit/check_tipfile
t_unit_check_tipfile_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_tipfile_LDADD = $(DAEMON_UNIT_LDADD)
# The BPF collector; only the table needs a kernel that loads it.
check_PROGRAMS += t/unit/check_timed_child
QUICK_TESTS += t/unit/check_timed_child
t_unit_check_timed_child_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_timed_child_LDADD = $(DAEMON_UNIT_LDADD)
check_PROGRAMS += t/unit/check_counters t/unit/check_openfiles t/unit/check_procroot
QUICK_TESTS += t/unit/check_counters t/unit/check_openfiles t/unit/check_procroot
t_unit_check_counters_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_counters_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=close,--wrap=ioctl
t_unit_check_counters_LDADD = $(COLLECT_LDADD)
t_unit_check_procroot_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_procroot_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_openfiles_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_openfiles_LDADD = $(DAEMON_UNIT_LDADD)
check_PROGRAMS += t/unit/check_confine t/unit/check_capture_files
QUICK_TESTS += t/unit/check_confine t/unit/check_capture_files
t_unit_check_confine_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_confine_LDADD = $(UNIT_LDADD)
t_unit_check_capture_files_SOURCES = t/unit/check_capture_files.c helpers/capture_files.c
t_unit_check_capture_files_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_capture_files_LDADD = $(UNIT_LDADD)
check_PROGRAMS += t/unit/check_branches t/unit/check_spefeed t/unit/check_spelive
QUICK_TESTS += t/unit/check_branches t/unit/check_spefeed t/unit/check_spelive
t_unit_check_branches_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_branches_LDADD = $(COLLECT_LDADD)
t_unit_check_spelive_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_spelive_LDADD = $(COLLECT_LDADD)
t_unit_check_spefeed_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_spefeed_LDADD = daemon/libdaemon.a analysis/libanalysis.a $(UNIT_LDADD)
check_PROGRAMS += t/unit/check_perfstreams
QUICK_TESTS += t/unit/check_perfstreams
t_unit_check_perfstreams_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_perfstreams_LDADD = $(DAEMON_UNIT_LDADD)
check_PROGRAMS += t/unit/check_entries t/unit/check_flip t/unit/check_monotonic
QUICK_TESTS += t/unit/check_entries t/unit/check_flip t/unit/check_monotonic
t_unit_check_entries_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_entries_LDADD = $(DAEMON_UNIT_LDADD)
t_unit_check_flip_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_flip_LDADD = $(UNIT_LDADD)
EXTRA_DIST += t/unit/check_bpf_nodes.c t/unit/check_bpf_table.c t/bpf_sampler.c t/bpf_sampler.h
t_unit_check_monotonic_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_monotonic_LDADD = $(DAEMON_UNIT_LDADD)
EXTRA_DIST += t/unit/check_bpf_table.c t/unit/check_newprogram.c
if BPF
check_PROGRAMS += t/unit/check_bpf_nodes t/unit/check_bpf_table t/unit/check_newprogram
QUICK_TESTS += t/unit/check_bpf_nodes t/unit/check_bpf_table t/unit/check_newprogram
endif
t_unit_check_bpf_nodes_CFLAGS = $(UNIT_CFLAGS) $(BPF_CFLAGS)
t_unit_check_bpf_nodes_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=access,--wrap=ioctl,--wrap=malloc \
	-Wl,--wrap=calloc,--wrap=bpf_obj_get_info_by_fd
t_unit_check_bpf_nodes_LDADD = $(COLLECT_LDADD)
t_unit_check_newprogram_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_newprogram_LDADD = $(COLLECT_LDADD)
t_unit_check_bpf_table_SOURCES = t/unit/check_bpf_table.c t/bpf_sampler.c \
	t/bpf_sampler.h
t_unit_check_bpf_table_CFLAGS = $(UNIT_CFLAGS) $(BPF_CFLAGS)
t_unit_check_bpf_table_LDADD = $(COLLECT_LDADD)
t_unit_check_store_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_store_LDADD = $(DB_UNIT_LDADD)
t_unit_check_db_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_db_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=lockholder_find,--wrap=lockholder_name \
	-Wl,--wrap=unlocked_note
t_unit_check_db_LDADD = $(DB_UNIT_LDADD)
t_unit_check_db_calls_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_db_calls_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec \
	-Wl,--wrap=sqlite3_prepare_v2,--wrap=malloc,--wrap=calloc
t_unit_check_db_calls_LDADD = $(DB_UNIT_LDADD)
t_unit_check_db_faults_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_db_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=reallocarray
t_unit_check_db_faults_LDADD = $(DB_UNIT_LDADD)
t_unit_check_db_torn_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_db_torn_LDADD = $(DB_UNIT_LDADD)
t_unit_check_vfs_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_vfs_LDADD = $(DB_UNIT_LDADD)
t_unit_check_plans_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_plans_LDADD = $(DB_UNIT_LDADD)
t_unit_check_retain_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_retain_LDADD = $(DB_UNIT_LDADD)
t_unit_check_retain_clock_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_retain_clock_LDADD = $(DB_UNIT_LDADD)
t_unit_check_retain_killed_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_retain_killed_LDADD = $(DB_UNIT_LDADD)
t_unit_check_rollup_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_rollup_LDADD = $(DB_UNIT_LDADD)
t_unit_check_db_root_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_db_root_LDADD = $(DB_UNIT_LDADD)
t_unit_check_copy_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_copy_LDADD = $(DB_UNIT_LDADD)
t_unit_check_kept_sums_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_kept_sums_LDADD = $(DB_UNIT_LDADD)
t_unit_check_query_CFLAGS = $(DB_UNIT_CFLAGS)
t_unit_check_query_LDADD = $(DB_UNIT_LDADD)
# analysis/
UNIT_ANALYSIS = t/unit/check_captured t/unit/check_cfg t/unit/check_cover t/unit/check_demangle \
	t/unit/check_image \
	t/unit/check_image_hostile t/unit/check_isa t/unit/check_kept t/unit/check_schedule \
	t/unit/check_seen t/unit/check_symtab
check_PROGRAMS += $(UNIT_ANALYSIS)
QUICK_TESTS += $(UNIT_ANALYSIS)
EXTRA_DIST += t/unit/elf_fixture.h t/unit/image_ask.h
UNIT_ANALYSIS_LDADD = analysis/libanalysis.a $(UNIT_LDADD) $(ANALYSIS_LIBS)
UNIT_ANALYSIS_CFLAGS = $(UNIT_CFLAGS) $(ELF_CFLAGS)

t_unit_check_cfg_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_cfg_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_captured_CFLAGS = $(UNIT_ANALYSIS_CFLAGS)
t_unit_check_captured_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_cover_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_cover_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_demangle_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_demangle_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_image_CFLAGS = $(UNIT_ANALYSIS_CFLAGS)
t_unit_check_image_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_isa_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_isa_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_kept_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_kept_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_schedule_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_schedule_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_seen_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_seen_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_symtab_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_symtab_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_image_hostile_CFLAGS = $(UNIT_ANALYSIS_CFLAGS)
t_unit_check_image_hostile_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=file_pread
t_unit_check_image_hostile_LDADD = $(UNIT_ANALYSIS_LDADD)
# Frequencies and culprits.
UNIT_FREQ = t/unit/check_address t/unit/check_blame t/unit/check_branchprob \
	t/unit/check_branchstack t/unit/check_callgraph t/unit/check_callscale \
	t/unit/check_chain t/unit/check_combine t/unit/check_data_model t/unit/check_equiv t/unit/check_estimate \
	t/unit/check_feedback t/unit/check_flow_doors t/unit/check_flow_repair t/unit/check_freq t/unit/check_landing \
	t/unit/check_loops t/unit/check_mispredicts t/unit/check_operand_values t/unit/check_pace t/unit/check_pathcount t/unit/check_propagate \
	t/unit/check_scale t/unit/check_steps t/unit/check_tip t/unit/check_traffic \
	t/unit/check_trips t/unit/check_values t/unit/check_window_balance t/unit/check_window_weights
check_PROGRAMS += $(UNIT_FREQ)
QUICK_TESTS += $(UNIT_FREQ)
EXTRA_DIST += t/unit/cfg_make.h t/unit/flow_make.h
UNIT_FREQ_LDADD = $(UNIT_ANALYSIS_LDADD) -lm

t_unit_check_address_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_address_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_blame_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_blame_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=blame_find_address
t_unit_check_blame_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_data_model_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_data_model_LDADD = analysis/libanalysis.a db/libdb.a $(UNIT_LDADD) $(ZSTD_LIBS) -lm
t_unit_check_branchprob_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_branchprob_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_callgraph_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_callgraph_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_window_balance_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_window_balance_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_callscale_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_callscale_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_chain_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_chain_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_tip_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_tip_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_combine_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_combine_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_equiv_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_equiv_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_estimate_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_estimate_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_branchstack_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_branchstack_LDADD = analysis/libanalysis.a db/libdb.a $(UNIT_FREQ_LDADD) $(SQLITE_LIBS) $(ZSTD_LIBS)
t_unit_check_operand_values_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_operand_values_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_pace_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_pace_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_steps_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_steps_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_window_weights_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_window_weights_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_mispredicts_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_mispredicts_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_pathcount_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_pathcount_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_values_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_values_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_traffic_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_traffic_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_feedback_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_feedback_LDADD = $(t_unit_check_branchstack_LDADD)
t_unit_check_freq_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_freq_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_landing_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_landing_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_trips_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_trips_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_loops_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_loops_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_propagate_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_propagate_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_scale_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_scale_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_flow_doors_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_flow_doors_LDADD = $(UNIT_FREQ_LDADD)
t_unit_check_flow_repair_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_flow_repair_LDADD = $(UNIT_FREQ_LDADD)

# Reports.
check_PROGRAMS += t/unit/check_ranked_insns
QUICK_TESTS += t/unit/check_ranked_insns
t_unit_check_ranked_insns_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_ranked_insns_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_hotspots
QUICK_TESTS += t/unit/check_hotspots
t_unit_check_hotspots_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_hotspots_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_explainer
QUICK_TESTS += t/unit/check_explainer
t_unit_check_explainer_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_explainer_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_export t/unit/check_export_samples
QUICK_TESTS += t/unit/check_export t/unit/check_export_samples
t_unit_check_export_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS) $(PROTOBUF_C_CFLAGS)
t_unit_check_export_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
t_unit_check_export_samples_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_export_samples_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_diff_parts
QUICK_TESTS += t/unit/check_diff_parts
t_unit_check_diff_parts_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_diff_parts_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_summary
QUICK_TESTS += t/unit/check_summary
t_unit_check_summary_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_summary_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_databases
QUICK_TESTS += t/unit/check_databases
t_unit_check_databases_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_databases_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_select
QUICK_TESTS += t/unit/check_select
t_unit_check_select_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_select_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)
check_PROGRAMS += t/unit/check_default_db
QUICK_TESTS += t/unit/check_default_db
t_unit_check_default_db_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_default_db_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)

# Contexts of samples, and what cgroups are called.
check_PROGRAMS += t/unit/check_containers
QUICK_TESTS += t/unit/check_containers
t_unit_check_containers_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS) $(CURL_CFLAGS) $(PROTOBUF_C_CFLAGS)
t_unit_check_containers_SOURCES = t/unit/check_containers.c helpers/containers_read.c
t_unit_check_containers_LDADD = $(UNIT_LDADD) $(SQLITE_LIBS) $(PROTOBUF_C_LIBS)
if PROTOBUF_C
nodist_t_unit_check_containers_SOURCES = helpers/cri.pb-c.c
endif
check_PROGRAMS += t/unit/check_cgroupname t/unit/check_contexts
QUICK_TESTS += t/unit/check_cgroupname t/unit/check_contexts
t_unit_check_cgroupname_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_cgroupname_LDADD = report/libreport.a $(UNIT_LDADD)
t_unit_check_contexts_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_contexts_LDADD = $(COLLECT_LDADD)

# Runs compared: statistics.
UNIT_RUNS = t/unit/check_compare t/unit/check_distribution t/unit/check_outliers \
	t/unit/check_shape t/unit/check_similar t/unit/check_spread t/unit/check_weighted
check_PROGRAMS += $(UNIT_RUNS)
QUICK_TESTS += $(UNIT_RUNS)
check_PROGRAMS += t/unit/check_pairs t/unit/check_paths t/unit/check_rates
QUICK_TESTS += t/unit/check_pairs t/unit/check_paths t/unit/check_rates
t_unit_check_paths_SOURCES = t/unit/check_paths.c $(PATHS)
t_unit_check_paths_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_paths_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_pairs_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_pairs_LDADD = $(UNIT_RUNS_LDADD)
t_unit_check_rates_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_rates_LDADD = t/librecordstext.a analysis/libanalysis.a db/libdb.a $(UNIT_LDADD) -lm
UNIT_RUNS_LDADD = analysis/libanalysis.a $(UNIT_LDADD) -lm
t_unit_check_compare_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_compare_LDADD = $(UNIT_RUNS_LDADD)
t_unit_check_distribution_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_distribution_LDADD = $(UNIT_RUNS_LDADD)
t_unit_check_shape_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_shape_LDADD = $(UNIT_RUNS_LDADD)
t_unit_check_similar_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_similar_LDADD = $(UNIT_ANALYSIS_LDADD)
t_unit_check_outliers_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_outliers_LDADD = $(UNIT_RUNS_LDADD)
t_unit_check_spread_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_spread_LDADD = $(UNIT_RUNS_LDADD)
t_unit_check_weighted_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_weighted_LDADD = $(UNIT_RUNS_LDADD)
# Hardware's records.
RECORDS_UNIT = t/unit/check_hwevent t/unit/check_ibs t/unit/check_perffields \
	t/unit/check_sample t/unit/check_spe
check_PROGRAMS += $(RECORDS_UNIT)
QUICK_TESTS += $(RECORDS_UNIT)
RECORDS_UNIT_LDADD = t/librecordstext.a analysis/libanalysis.a $(UNIT_LDADD)
t_unit_check_hwevent_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_hwevent_LDADD = $(COLLECT_LDADD)
t_unit_check_sample_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_sample_LDADD = $(COLLECT_LDADD)
t_unit_check_ibs_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_ibs_LDADD = $(RECORDS_UNIT_LDADD)
t_unit_check_perffields_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_perffields_LDADD = $(RECORDS_UNIT_LDADD)
t_unit_check_spe_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_spe_LDADD = $(RECORDS_UNIT_LDADD)
# Call stacks as trees.
check_PROGRAMS += t/unit/check_calltree
QUICK_TESTS += t/unit/check_calltree
t_unit_check_calltree_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_calltree_LDADD = $(UNIT_ANALYSIS_LDADD)
check_PROGRAMS += t/unit/check_frames
QUICK_TESTS += t/unit/check_frames
t_unit_check_frames_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_frames_LDADD = $(tools_cpi_LDADD) $(CHECK_LIBS)

# What the daemon has yet to store.
check_PROGRAMS += t/unit/check_outbox
QUICK_TESTS += t/unit/check_outbox
t_unit_check_outbox_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_outbox_LDADD = $(COLLECT_LDADD)

# The clock rate.
check_PROGRAMS += t/unit/check_background
QUICK_TESTS += t/unit/check_background
t_unit_check_background_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_background_LDADD = daemon/libdaemon.a $(UNIT_LDADD)

check_PROGRAMS += t/unit/check_clockrate
QUICK_TESTS += t/unit/check_clockrate
t_unit_check_clockrate_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_clockrate_LDADD = daemon/libdaemon.a $(UNIT_LDADD)

# A session, by a clock that the test steps.
check_PROGRAMS += t/unit/check_doctor
QUICK_TESTS += t/unit/check_doctor
t_unit_check_doctor_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_doctor_LDADD = tools/libtools.a daemon/libdaemon.a $(UNIT_LDADD) $(CAP_LIBS) \
	$(BPF_LIBS) $(ZLIB_LIBS)
check_PROGRAMS += t/unit/check_defaults
QUICK_TESTS += t/unit/check_defaults
t_unit_check_defaults_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_defaults_LDADD = $(COLLECT_LDADD)
check_PROGRAMS += t/unit/check_session
QUICK_TESTS += t/unit/check_session
t_unit_check_session_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_session_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=outbox_add_epoch
t_unit_check_session_LDADD = $(COLLECT_LDADD)

# Windows in the daemon.
WINDOWS_UNIT = t/unit/check_windowunits t/unit/check_translate_aarch64 \
	t/unit/check_translate_check t/unit/check_translate_child t/unit/check_window_sample \
	t/unit/check_windowpool t/unit/check_windowtally t/unit/check_codepack
check_PROGRAMS += $(WINDOWS_UNIT)
QUICK_TESTS += $(WINDOWS_UNIT)
t_unit_check_windowunits_CFLAGS = $(UNIT_CFLAGS) $(SQLITE_CFLAGS)
t_unit_check_windowunits_LDADD = $(COLLECT_LDADD)
t_unit_check_translate_aarch64_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_translate_aarch64_LDADD = $(t_unit_check_translate_check_LDADD)
t_unit_check_translate_check_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_translate_check_LDADD = daemon/libdaemon.a analysis/libanalysis.a \
	$(UNIT_LDADD) $(ANALYSIS_LIBS)
t_unit_check_translate_child_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_translate_child_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=helper_start
t_unit_check_translate_child_LDADD = $(t_unit_check_translate_check_LDADD) $(CAP_LIBS)
t_unit_check_window_sample_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_window_sample_LDADD = analysis/libanalysis.a $(UNIT_LDADD)
t_unit_check_codepack_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_codepack_LDADD = analysis/libanalysis.a $(UNIT_LDADD)
t_unit_check_windowpool_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_windowpool_LDADD = daemon/libdaemon.a $(UNIT_LDADD)
t_unit_check_windowtally_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_windowtally_LDADD = $(COLLECT_LDADD)
if WINDOWS
check_PROGRAMS += t/unit/check_windowahead t/unit/check_windowforms \
	t/unit/check_windowpages t/unit/check_windowreplay t/unit/check_startweights \
	t/unit/check_operand_coverage
QUICK_TESTS += t/unit/check_windowahead t/unit/check_windowforms \
	t/unit/check_windowpages t/unit/check_windowreplay t/unit/check_startweights \
	t/unit/check_operand_coverage
endif
t_unit_check_windowahead_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_windowahead_LDADD = $(COLLECT_LDADD)
t_unit_check_operand_coverage_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_operand_coverage_LDADD = $(COLLECT_LDADD)
t_unit_check_startweights_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_startweights_LDADD = $(COLLECT_LDADD)
t_unit_check_windowforms_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_windowforms_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=translate_child_ask
t_unit_check_windowforms_LDADD = $(COLLECT_LDADD)
t_unit_check_windowpages_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_windowpages_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=translate_child_ask \
	-Wl,--wrap=translate_child_take -Wl,--wrap=codecache_read
t_unit_check_windowpages_LDADD = $(COLLECT_LDADD)
t_unit_check_windowreplay_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_windowreplay_LDADD = $(COLLECT_LDADD)
# Windows: translation, and the interpreter against the machine.
WINDOW_UNIT = t/unit/check_translate t/unit/check_window t/unit/check_window_lead \
	t/unit/check_form
EXTRA_DIST += t/unit/native.h
if ZYDIS
check_PROGRAMS += $(WINDOW_UNIT)
QUICK_TESTS += $(WINDOW_UNIT)
endif
WINDOW_UNIT_LDADD = analysis/libanalysis.a $(UNIT_LDADD) $(ZYDIS_LIBS)
t_unit_check_translate_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_translate_LDADD = $(WINDOW_UNIT_LDADD)
t_unit_check_form_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_form_LDADD = $(WINDOW_UNIT_LDADD)
t_unit_check_window_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_window_LDADD = $(WINDOW_UNIT_LDADD)
t_unit_check_window_lead_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_window_lead_LDADD = daemon/libdaemon.a $(WINDOW_UNIT_LDADD)
# Time that hardware measured itself.
check_PROGRAMS += t/unit/check_precise
QUICK_TESTS += t/unit/check_precise
t_unit_check_precise_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_precise_LDADD = analysis/libanalysis.a db/libdb.a $(UNIT_LDADD) $(ANALYSIS_LIBS) -lm
# The store of a fleet.
STORE_UNIT = t/unit/check_amount t/unit/check_budget_bytes t/unit/check_contained t/unit/check_due t/unit/check_native t/unit/check_rowbinary t/unit/check_storeurl \
	t/unit/check_thin
check_PROGRAMS += $(STORE_UNIT)
QUICK_TESTS += $(STORE_UNIT)
t_unit_check_amount_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_amount_LDADD = report/libreport.a analysis/libanalysis.a db/libstore.a db/libdb.a \
	$(UNIT_LDADD) $(ANALYSIS_LIBS) $(SQLITE_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) -lm
t_unit_check_contained_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_contained_LDADD = ship/libship.a $(UNIT_LDADD)
t_unit_check_budget_bytes_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_budget_bytes_LDADD = ship/libship.a db/libstore.a db/libdb.a base/libbase.a $(UNIT_LDADD) \
	$(SQLITE_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) -lm
t_unit_check_due_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_due_LDADD = ship/libship.a db/libstore.a db/libdb.a base/libbase.a $(UNIT_LDADD) \
	$(SQLITE_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) -lm
t_unit_check_native_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_native_LDADD = db/libstore.a $(UNIT_LDADD)
t_unit_check_rowbinary_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_rowbinary_LDADD = db/libstore.a $(UNIT_LDADD)
t_unit_check_storeurl_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_storeurl_LDADD = db/libstore.a $(UNIT_LDADD)
t_unit_check_thin_CFLAGS = $(UNIT_CFLAGS)
t_unit_check_thin_LDADD = ship/libship.a base/libbase.a $(UNIT_LDADD) -lm
