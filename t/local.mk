# SPDX-License-Identifier: GPL-2.0-or-later
# QUICK_TESTS are the units, the corpora, the tree and the command; LONG_TESTS run
# the daemon. Those in BESIDE_TESTS hold on a busy machine: what they judge are shares of
# their own programs, or no figures at all. Others may run beside them. The rest of LONG_TESTS
# runs alone: they compare times or whole profiles, expect that no sample is lost or
# ambiguous, judge every process of a name that other tests run as well, fill buffers, wait
# for captures, which have the lowest priority, or change settings of the machine.
QUICK_TESTS =
LONG_TESTS =
BESIDE_TESTS = $(FORMAT_TESTS) $(CFG_LONG_TESTS) $(DB_LONG_UNIT) t/0116-cli-record-process.t \
	t/0120-lines-dwarf.t t/0131-unwind-gdb.t \
	t/0135-export-feedback.t t/0136-export-windows.t t/0152-cli-calls.t \
	t/0201-cpid-lifecycle.t t/0202-cpid-privileges.t t/0203-cpid-help.t \
	t/0204-cpid-metrics.t t/0205-cpid-top.t t/0206-cpid-helpers.t \
	t/0207-cpid-descriptors.t t/0208-cpid-retain.t t/0209-cpid-answers.t \
	t/0210-cpid-clock.t t/0211-cpid-deleted.t t/0212-cpid-watchdog.t \
	t/0214-cpid-locked.t t/0216-cpid-fresh.t t/0217-cpid-minutes.t \
	t/0218-cpid-config.t t/0219-cpid-rights.t t/0220-cpid-containers.t t/0221-cpid-pods.t t/0307-collect-killed.t t/0308-collect-full-disk.t \
	t/0311-collect-raw.t t/0312-collect-outcomes.t t/0314-collect-unprivileged.t \
	t/0337-windows-aarch64.t t/0341-cli-why.t t/0343-diff-builds.t t/0344-windows-budget.t \
	t/0345-cli-paths.t t/0349-cli-values.t t/0338-cli-operands.t t/0347-windows-jit.t t/0366-bpf-killed.t \
	t/0367-bpf-outcomes.t t/0370-bpf-nothing-stays.t t/0372-bpf-ticks-outcomes.t \
	t/0376-bpf-flips.t t/0377-bpf-verifier.t t/0382-jit-java.t \
	t/0384-images-namespaces.t t/0388-hostile-stalling.t \
	t/0390-collect-beside-perf.t t/0393-collect-dwarf.t t/0394-dwarf-perf.t \
	t/0395-dwarf-jit.t t/0396-capture-kernel.t t/0397-windows-truth.t \
	t/0398-windows-stepped.t t/0403-bench-overhead.t t/0407-hostile-syscalls.t \
	t/0408-hostile-locks.t t/0409-hostile-roots.t \
	t/0410-hostile-waits.t t/0412-hostile-faults.t t/0413-collect-months.t \
	t/0602-hook-announcements.t t/0605-hook-oracle.t \
	$(WEB_LONG_TESTS) $(FLEET_LONG_TESTS)
TESTS = $(QUICK_TESTS) $(LONG_TESTS)

# check runs these before the others, so that no CPU waits at the end for the longest.
SLOW_TESTS = t/0408-hostile-locks.t t/0412-hostile-faults.t t/0322-cfg-callgrind.t \
	t/0413-collect-months.t t/0750-web-page.t t/0752-web-page-rest.t t/0410-hostile-waits.t \
	t/0398-windows-stepped.t t/0347-windows-jit.t t/0372-bpf-ticks-outcomes.t \
	t/0214-cpid-locked.t t/0366-bpf-killed.t t/0393-collect-dwarf.t t/0409-hostile-roots.t \
	t/0388-hostile-stalling.t t/0107-cli-record.t t/unit/check_db_calls t/unit/check_image_hostile \
	t/unit/check_timed_child t/unit/check_due t/unit/check_window_lead t/unit/check_window_sample \
	t/unit/check_copy t/0120-lines-dwarf.t t/0321-cfg-stripped.t \
	t/0751-web-glance.t t/0702-web-attacks.t t/unit/check_bpf_table \
	t/unit/check_compare t/unit/check_edges_full t/unit/check_rollup t/unit/check_retain_killed \
	t/unit/check_db_faults t/0704-web-tls.t t/0906-fleet-chaos.t t/0907-fleet-sums.t \
	t/0914-fleet-grow.t \
	t/0915-fleet-summary.t t/0916-fleet-busy.t

# The build with sanitizers leaves out tests of texts and packages, which do not run what
# was compiled. It runs the others of QUICK_TESTS, and those of SANITIZED_TESTS.
UNSANITIZED_TESTS = $(TREE_TESTS) $(FORMAT_TESTS) t/0706-web-rights.t t/0146-deploy-alerts.t \
	t/0801-packages-files.t t/0802-deploy-files.t
SANITIZED_TESTS = $(DB_LONG_UNIT) t/0116-cli-record-process.t t/0120-lines-dwarf.t \
	t/0131-unwind-gdb.t t/0702-web-attacks.t t/0906-fleet-chaos.t
# These only compute: they neither sample nor judge times. With sanitizers they run when a
# CPU has nothing else to do, beside live tests of the other build.
IDLE_TESTS = t/fuzz/corpus.t $(UNIT) $(DB_UNIT) $(DB_LONG_UNIT) $(UNIT_ANALYSIS) $(UNIT_FREQ) $(UNIT_RUNS) \
	$(RECORDS_UNIT) $(CFG_TESTS) $(LINES_TESTS) t/0120-lines-dwarf.t t/0300-isa-objdump.t \
	$(RUNS_TESTS) $(CALLS_TESTS) t/0104-cli-list.t t/0105-cli-epochs.t t/0109-cli-cfg.t \
	t/0110-cli-calc.t t/0111-cli-sum.t t/0114-cli-move.t t/0117-cli-pairs.t \
	t/0119-cli-over-time.t t/0125-import-perf.t \
	t/0130-export-formats.t t/0134-export-compilers.t t/0137-outputs-clean.t \
	t/0138-db-hostile.t t/0139-db-older.t t/0140-cli-names.t t/0144-cli-evidence.t \
	t/0350-tip-traces.t t/0351-tip-records.t t/0352-tip-binary.t
check_LIBRARIES =
# Units that compute much themselves: with optimization the quick tests end earlier.
BUSY_UNITS = t/unit/check_window_sample t/unit/check_compare
# Helpers of test scripts.
EXTRA_DIST += t/alone.sh t/recorded.sh t/runs.sh t/shares.sh t/windows.sh
EXTRA_DIST += t/fixtures t/cached.sh t/collect.sh t/cpid.sh t/halt.sh t/hook.sh t/known.sh t/prometheus_check.py t/tap.sh
EXTRA_DIST += t/calc_check.py t/dashboard_check.py t/hex.awk t/rows_forge.py t/stats_check.py t/text_addresses.awk

# Pipeline traces.
EXTRA_DIST += t/tip_database.py t/tip_trace.py
dist_check_SCRIPTS += t/0350-tip-traces.t t/0351-tip-records.t t/0352-tip-binary.t
QUICK_TESTS += t/0350-tip-traces.t t/0351-tip-records.t t/0352-tip-binary.t

# Hardware's records, against perf.
RECORDS_TEXT = t/records/data_src_text.c t/records/hw_text.c t/records/ibs_text.c \
	t/records/spe_text.c t/records/text.h
check_LIBRARIES += t/librecordstext.a
t_librecordstext_a_SOURCES = $(RECORDS_TEXT)
t_librecordstext_a_CFLAGS = $(AM_CFLAGS)
check_PROGRAMS += t/records_dump
t_records_dump_SOURCES = t/records_dump.c
t_records_dump_CFLAGS = $(AM_CFLAGS)
t_records_dump_LDADD = t/librecordstext.a analysis/libanalysis.a base/libbase.a
EXTRA_DIST += t/records_perf.py
dist_check_SCRIPTS += t/0353-records-perf.t
QUICK_TESTS += t/0353-records-perf.t

FORMAT_TESTS = t/0002-tree-format.t
TREE_TESTS = t/0001-tree-includes.t t/0003-tree-kmod.t t/0004-tree-docs.t \
	t/0005-tree-page.t t/0006-tree-sbom.t t/0007-tree-session.t t/0008-tree-archive.t
CLI_TESTS = t/0101-cli-agrees.t t/0102-cli-usage.t t/0103-cli-prof.t \
	t/0104-cli-list.t t/0105-cli-epochs.t t/0106-cli-control.t t/0107-cli-record.t \
	t/0108-cli-terminal.t t/0109-cli-cfg.t t/0110-cli-calc.t t/0111-cli-sum.t t/0114-cli-move.t \
	t/0117-cli-pairs.t t/0118-cli-records.t t/0119-cli-over-time.t \
	t/0145-cli-doctor.t t/0148-cli-mark.t t/0149-cli-schedules.t t/0153-cli-jobs.t t/0154-cli-rows.t t/0146-deploy-alerts.t
CPID_TESTS = t/0201-cpid-lifecycle.t t/0202-cpid-privileges.t t/0203-cpid-help.t \
	t/0204-cpid-metrics.t t/0205-cpid-top.t \
	t/0206-cpid-helpers.t t/0207-cpid-descriptors.t \
	t/0208-cpid-retain.t t/0209-cpid-answers.t t/0216-cpid-fresh.t t/0217-cpid-minutes.t t/0218-cpid-config.t \
	t/0219-cpid-rights.t t/0220-cpid-containers.t t/0221-cpid-pods.t \
	t/0210-cpid-clock.t t/0211-cpid-deleted.t t/0212-cpid-watchdog.t \
	t/0213-cpid-flood.t t/0214-cpid-locked.t
PASS_TESTS = t/0215-cpid-pass.t
dist_check_SCRIPTS += t/0116-cli-record-process.t
LONG_TESTS += t/0116-cli-record-process.t
dist_check_SCRIPTS += $(TREE_TESTS) $(FORMAT_TESTS) $(CLI_TESTS) $(CPID_TESTS) $(PASS_TESTS)
QUICK_TESTS += $(TREE_TESTS) $(CLI_TESTS) $(PASS_TESTS)
LONG_TESTS += $(FORMAT_TESTS)
LONG_TESTS += $(CPID_TESTS)

# The server of the page.
WEB_TESTS = t/0701-web-reports.t t/0703-web-sockets.t t/0704-web-tls.t t/0705-web-cache.t t/0706-web-rights.t \
	t/0707-web-config.t
WEB_LONG_TESTS = t/0702-web-attacks.t t/0750-web-page.t t/0751-web-glance.t t/0752-web-page-rest.t \
	t/0753-web-fleet.t \
	t/0754-web-values.t
EXTRA_DIST += t/web.sh t/web_attack.py t/web_browser.py t/web_fleet.py t/web_fleet_cpi.py t/web_get.py t/web_keeps.py t/web_page.py t/web_page.sh t/web_saved.py t/web_unix.py
dist_check_SCRIPTS += $(WEB_TESTS) $(WEB_LONG_TESTS)
QUICK_TESTS += $(WEB_TESTS)
LONG_TESTS += $(WEB_LONG_TESTS)

# The decoder, against binutils.
check_PROGRAMS += t/isa_dump
t_isa_dump_SOURCES = t/isa_dump.c
t_isa_dump_CFLAGS = $(AM_CFLAGS)
t_isa_dump_LDADD = analysis/libanalysis.a base/libbase.a $(ANALYSIS_LIBS)
check_PROGRAMS += t/cfg_dump
t_cfg_dump_SOURCES = t/cfg_dump.c
t_cfg_dump_CFLAGS = $(AM_CFLAGS)
t_cfg_dump_LDADD = $(t_isa_dump_LDADD)
# Call chains by unwind tables, against gdb's.
check_PROGRAMS += t/unwind_dump
t_unwind_dump_SOURCES = t/unwind_dump.c helpers/unwind_signals.c
t_unwind_dump_CFLAGS = $(AM_CFLAGS)
t_unwind_dump_LDADD = $(t_isa_dump_LDADD) $(UNWIND_LIBS)
check_PROGRAMS += t/unwind_peer
t_unwind_peer_SOURCES = t/unwind_peer.c
t_unwind_peer_CFLAGS = $(AM_CFLAGS)
t_unwind_peer_LDADD = daemon/libdaemon.a base/libbase.a $(CAP_LIBS)
EXTRA_DIST += t/gdb_chains.py t/programs/standing.cc
dist_check_SCRIPTS += t/0131-unwind-gdb.t
LONG_TESTS += t/0131-unwind-gdb.t
# Lines and inlined calls, against LLVM and binutils.
check_PROGRAMS += t/lines_dump
t_lines_dump_SOURCES = t/lines_dump.c
t_lines_dump_CFLAGS = $(AM_CFLAGS)
t_lines_dump_LDADD = $(t_isa_dump_LDADD)
# Functions and lines as compilers name them, and profiles for compilers.
check_PROGRAMS += t/origins_dump
t_origins_dump_SOURCES = t/origins_dump.c
t_origins_dump_CFLAGS = $(AM_CFLAGS)
t_origins_dump_LDADD = $(t_isa_dump_LDADD)
check_PROGRAMS += t/feedback_dump
t_feedback_dump_SOURCES = t/feedback_dump.c
t_feedback_dump_CFLAGS = $(AM_CFLAGS)
t_feedback_dump_LDADD = $(tools_cpi_LDADD)
EXTRA_DIST += t/feedback_oracle.py t/gcov_text.py
dist_check_SCRIPTS += t/0134-export-compilers.t t/0135-export-feedback.t t/0136-export-windows.t t/0152-cli-calls.t
QUICK_TESTS += t/0134-export-compilers.t
LONG_TESTS += t/0135-export-feedback.t t/0136-export-windows.t t/0152-cli-calls.t
# Names that others chose.
dist_check_SCRIPTS += t/0137-outputs-clean.t t/0138-db-hostile.t t/0139-db-older.t \
	t/0140-cli-names.t t/0144-cli-evidence.t
QUICK_TESTS += t/0137-outputs-clean.t t/0138-db-hostile.t t/0139-db-older.t \
	t/0140-cli-names.t t/0144-cli-evidence.t
# What other viewers read.
EXTRA_DIST += t/export_check.py
dist_check_SCRIPTS += t/0130-export-formats.t
QUICK_TESTS += t/0130-export-formats.t
LINES_TESTS = t/0121-lines-debuginfod.t t/0122-lines-inlines.t
EXTRA_DIST += t/server_has.py t/programs/inlined.h t/programs/inlined_one.cc t/programs/inlined_two.cc
dist_check_SCRIPTS += $(LINES_TESTS) t/0120-lines-dwarf.t
QUICK_TESTS += $(LINES_TESTS)
LONG_TESTS += t/0120-lines-dwarf.t
# Windows, against single steps.
if ZYDIS
check_PROGRAMS += t/window_truth
endif
check_PROGRAMS += t/window_qemu
WINDOW_PATH = t/window_pages.c t/window_pages.h t/window_path.c t/window_path.h
t_window_qemu_SOURCES = t/window_qemu.c $(WINDOW_PATH)
t_window_qemu_CFLAGS = $(AM_CFLAGS)
t_window_qemu_LDADD = daemon/libdaemon.a analysis/libanalysis.a base/libbase.a $(ZYDIS_LIBS)
t_window_truth_SOURCES = t/window_truth.c t/data_truth.c t/data_truth.h $(WINDOW_PATH)
t_window_truth_CFLAGS = $(AM_CFLAGS)
t_window_truth_LDADD = daemon/libdaemon.a analysis/libanalysis.a base/libbase.a $(ZYDIS_LIBS)
dist_check_SCRIPTS += t/0397-windows-truth.t t/0337-windows-aarch64.t
LONG_TESTS += t/0397-windows-truth.t t/0337-windows-aarch64.t
EXTRA_DIST += t/aarch64.sh t/aarch64_ladder.sh t/accuracy/aarch64
EXTRA_DIST += t/aarch64.sh t/aarch64_machine.c t/programs/strings.c
# Frequencies, against counts: t/accuracy/run.
check_PROGRAMS += t/accuracy/freq_dump
t_accuracy_freq_dump_SOURCES = t/accuracy/freq_dump.c report/explain/selected_windows.c
t_accuracy_freq_dump_CFLAGS = $(AM_CFLAGS)
t_accuracy_freq_dump_LDADD = analysis/libanalysis.a db/libdb.a base/libbase.a \
	$(ANALYSIS_LIBS) $(SQLITE_LIBS) $(ZSTD_LIBS) -lm
check_PROGRAMS += t/accuracy/steps
t_accuracy_steps_SOURCES = t/accuracy/steps.c
t_accuracy_steps_CFLAGS = $(AM_CFLAGS)
t_accuracy_steps_LDADD = $(t_accuracy_freq_dump_LDADD)
EXTRA_DIST += t/accuracy/collect.py t/accuracy/culprits t/accuracy/landing \
	t/accuracy/overlap.py t/accuracy/programs.py t/accuracy/ranks.py t/accuracy/run \
	t/accuracy/unseen.py
# Causes that are removed: t/accuracy/interventions, t/accuracy/culprits --held.
EXTRA_DIST += t/accuracy/caused.c t/accuracy/caused.py t/accuracy/interventions \
	t/accuracy/fresh.c
dist_check_SCRIPTS += t/0330-freq-accuracy.t
LONG_TESTS += t/0330-freq-accuracy.t
# Which loads miss: t/accuracy/data.
check_PROGRAMS += t/accuracy/data_measure t/accuracy/data_program
t_accuracy_data_measure_SOURCES = t/accuracy/data_measure.c
t_accuracy_data_measure_CFLAGS = $(AM_CFLAGS)
t_accuracy_data_measure_LDADD = analysis/libanalysis.a db/libdb.a base/libbase.a $(ZSTD_LIBS) -lm
t_accuracy_data_program_SOURCES = t/accuracy/data_program.c
t_accuracy_data_program_CFLAGS = $(AM_CFLAGS) -O1
EXTRA_DIST += t/accuracy/data t/accuracy/widths
# Where samples land.
check_PROGRAMS += t/accuracy/landing_kernels
t_accuracy_landing_kernels_SOURCES = t/accuracy/landing_kernels.c
t_accuracy_landing_kernels_CFLAGS = $(AM_CFLAGS)
# How often small loops of known counts ran: t/accuracy/kernels.
check_PROGRAMS += t/accuracy/micro_kernels
t_accuracy_micro_kernels_SOURCES = t/accuracy/micro_kernels.c
t_accuracy_micro_kernels_CFLAGS = $(AM_CFLAGS) -O2 -fno-tree-vectorize -fno-unroll-loops
EXTRA_DIST += t/accuracy/kernels t/accuracy/drawn t/accuracy/grid t/accuracy/held_kernels.inc
# Culprits, of programs that wait for one known thing; the commands that name them;
# paths.
WHY_TESTS = t/0340-blame-kernels.t t/0341-cli-why.t t/0345-cli-paths.t t/0349-cli-values.t t/0338-cli-operands.t
EXTRA_DIST += t/paths_look.py t/programs/steps.c t/programs/divide.c t/programs/held_operands.c t/programs/held_sizes.c t/values_look.py t/operands_look.py
dist_check_SCRIPTS += $(WHY_TESTS)
LONG_TESTS += $(WHY_TESTS)
dist_check_SCRIPTS += t/0300-isa-objdump.t
QUICK_TESTS += t/0300-isa-objdump.t

# Control-flow graphs of the system's programs.
CFG_TESTS = t/0320-cfg-system.t t/0321-cfg-stripped.t
CFG_LONG_TESTS = t/0322-cfg-callgrind.t
EXTRA_DIST += t/callgrind_counts.awk t/cfg_covers.awk
dist_check_SCRIPTS += $(CFG_TESTS) $(CFG_LONG_TESTS)
QUICK_TESTS += $(CFG_TESTS)
LONG_TESTS += $(CFG_LONG_TESTS)
# What cpid stores of what really ran.
COLLECT_TESTS = \
	t/0301-collect-accounting.t \
	t/0302-collect-shortlived.t \
	t/0303-collect-pid-reuse.t \
	t/0304-collect-exec-chain.t \
	t/0305-collect-rate.t \
	t/0306-collect-lost.t \
	t/0307-collect-killed.t \
	t/0308-collect-full-disk.t \
	t/0309-collect-perf-agrees.t \
	t/0310-collect-compile.t \
	t/0311-collect-raw.t \
	t/0312-collect-outcomes.t \
	t/0313-collect-hotplug.t \
	t/0314-collect-unprivileged.t \
	t/0315-collect-crowd.t \
	t/0316-collect-budget.t t/0317-collect-throttled.t \
	t/0390-collect-beside-perf.t \
	t/0392-collect-stacks.t \
	t/0393-collect-dwarf.t \
	t/0394-dwarf-perf.t t/0395-dwarf-jit.t
EXTRA_DIST += t/calls_known.py t/perf_counts.awk t/profiles_agree.awk t/programs/calls.cc \
	t/stack_names.py t/stacks_agree.py
dist_check_SCRIPTS += $(COLLECT_TESTS)
LONG_TESTS += $(COLLECT_TESTS)
# perf does not follow CPUs that come back.
t/0313-collect-hotplug.log: t/0309-collect-perf-agrees.log

# Images of every kind.
IMAGE_TESTS = t/0380-jit-program.t t/0381-jit-node.t t/0382-jit-java.t \
	t/0383-images-gone.t t/0384-images-namespaces.t t/0385-images-mixed.t \
	t/0379-hostile-maps.t t/0388-hostile-stalling.t t/0389-hostile-neighbour.t \
	t/0391-collect-contexts.t t/0411-collect-threads.t t/0407-hostile-syscalls.t \
	t/0396-capture-kernel.t
EXTRA_DIST += t/inject t/inject.txt t/rights_check.py t/syscalls_check
# Tests of tests.
EXTRA_DIST += t/coverage t/mutate t/mutants.txt t/session.py t/uncovered.txt t/unit_link.py
check_PROGRAMS += t/stalling_fs
EXTRA_DIST += t/elf_crafted.py t/kernel_calls.py t/programs/Jit.java t/programs/jit.js t/programs/jit_stacks.js
CAPTURE_TESTS = t/0386-capture-replaced.t t/0387-capture-hostile.t
check_PROGRAMS += t/capture_peer
t_capture_peer_SOURCES = t/capture_peer.c helpers/sandbox.c helpers/sandbox.h helpers/capture.h
t_capture_peer_CFLAGS = $(AM_CFLAGS) $(CAP_CFLAGS)
t_capture_peer_LDADD = daemon/libdaemon.a analysis/libanalysis.a db/libdb.a base/libbase.a $(ZSTD_LIBS) $(ELF_LIBS) $(NETTLE_LIBS) $(CAP_LIBS)
EXTRA_DIST += t/programs/replaced.c t/programs/replaced.cc
dist_check_SCRIPTS += $(CAPTURE_TESTS)
LONG_TESTS += $(CAPTURE_TESTS)
dist_check_SCRIPTS += $(IMAGE_TESTS)
LONG_TESTS += $(IMAGE_TESTS)

# Processes and file systems that do not answer.
HOSTILE_TESTS = t/0408-hostile-locks.t t/0409-hostile-roots.t t/0410-hostile-waits.t \
	t/0412-hostile-faults.t t/0413-collect-months.t \
	t/0414-hostile-helpers.t
dist_check_SCRIPTS += $(HOSTILE_TESTS)
LONG_TESTS += $(HOSTILE_TESTS)
check_PROGRAMS += t/programs/lock_holder t/programs/waits
t_programs_lock_holder_SOURCES = t/programs/lock_holder.c
t_programs_lock_holder_CFLAGS = $(FIXED_COMPILE)
t_programs_lock_holder_LDFLAGS = $(FIXED_LINK) -pthread
t_programs_waits_SOURCES = t/programs/waits.c
t_programs_waits_CFLAGS = $(FIXED_COMPILE)
t_programs_waits_LDFLAGS = $(FIXED_LINK)

# The same, and more, with the BPF collector.
BPF_TESTS = \
	t/0361-bpf-accounting.t \
	t/0362-bpf-shortlived.t \
	t/0363-bpf-pid-reuse.t \
	t/0364-bpf-exec-chain.t \
	t/0365-bpf-rate.t \
	t/0366-bpf-killed.t \
	t/0367-bpf-outcomes.t \
	t/0368-bpf-hotplug.t \
	t/0369-bpf-agrees.t \
	t/0370-bpf-nothing-stays.t \
	t/0371-bpf-ticks.t \
	t/0372-bpf-ticks-outcomes.t \
	t/0373-bpf-budget.t \
	t/0374-bpf-stats.t \
	t/0376-bpf-flips.t \
	t/0377-bpf-verifier.t t/0378-bpf-throttled.t
dist_check_SCRIPTS += $(BPF_TESTS)
LONG_TESTS += $(BPF_TESTS)
t/0368-bpf-hotplug.log: t/0313-collect-hotplug.log

# Emulated machines: other kernels, modules, CPU hotplug, AArch64. They want packages
# of their own, so they run when asked for: check --all, and --vm with those that take
# minutes.
VM_TESTS = t/0501-vm-x86_64.t t/0502-vm-arm64.t
VM_LONG_TESTS = t/0503-vm-long-x86_64.t t/0504-vm-long-arm64.t \
	t/0505-vm-old-x86_64.t
dist_check_SCRIPTS += $(VM_TESTS) $(VM_LONG_TESTS)
EXTRA_DIST += t/vm

# Packages.
dist_check_SCRIPTS += t/0801-packages-files.t t/0802-deploy-files.t
QUICK_TESTS += t/0801-packages-files.t t/0802-deploy-files.t
EXTRA_DIST += t/deploy_check.py t/containerd.py t/containerd.toml t/pod.c
# They build the packages, and are among the long ones of check --vm.
EXTRA_DIST += t/packages
check_PROGRAMS += t/initial_namespace.so
t_initial_namespace_so_SOURCES = t/initial_namespace.c
t_initial_namespace_so_CFLAGS = $(WARN_CFLAGS) -O2 -fPIC
t_initial_namespace_so_LDFLAGS = -shared
VM_LONG_TESTS += t/0803-packages-booted.t t/0804-packages-container.t \
	t/0805-packages-twice.t t/0806-packages-bare.t t/0807-packages-trixie.t \
	t/0808-packages-arm64.t t/0809-packages-service.t \
	t/0810-packages-contained.t t/0811-packages-contained-trixie.t \
	t/0812-packages-fleet.t

include t/unit/local.mk
include t/fuzz/local.mk
include t/bench/local.mk
include t/fdo/local.mk

check_PROGRAMS += t/cpid_peer

# The command, on databases of known content.
check_PROGRAMS += t/mkdb t/target
t_mkdb_SOURCES = t/mkdb.c t/makedb.h
t_mkdb_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_mkdb_LDADD = analysis/libanalysis.a db/libdb.a base/libbase.a $(ANALYSIS_LIBS) \
	$(SQLITE_LIBS) $(ZSTD_LIBS)
# A year of a busy host, and retention's work on it.
check_PROGRAMS += t/clock.so
t_clock_so_SOURCES = t/clock.c
t_clock_so_CFLAGS = $(WARN_CFLAGS) -O2 -fPIC
t_clock_so_LDFLAGS = -shared
check_PROGRAMS += t/slow_maps.so
t_slow_maps_so_SOURCES = t/slow_maps.c
t_slow_maps_so_CFLAGS = $(WARN_CFLAGS) -O2 -fPIC
t_slow_maps_so_LDFLAGS = -shared
check_PROGRAMS += t/mkyear
t_mkyear_SOURCES = t/mkyear.c
t_mkyear_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_mkyear_LDADD = db/libdb.a base/libbase.a $(SQLITE_LIBS) $(ZSTD_LIBS) -lm
# Without sanitizers: its instructions are what the listings show.
t_target_SOURCES = t/target.c
t_target_CFLAGS = $(WARN_CFLAGS) -g
t_target_LDFLAGS =

# Operands of known shares, and the search for one of them in a database.
check_PROGRAMS += t/programs/operands t/programs/values t/find_key
KNOWN_COMPILE = -g -O1 -fno-tree-vectorize -fno-unroll-loops
t_programs_operands_SOURCES = t/programs/operands.c
t_programs_operands_CFLAGS = $(KNOWN_COMPILE)
t_programs_operands_LDFLAGS =
t_programs_values_SOURCES = t/programs/values.c
t_programs_values_CFLAGS = $(KNOWN_COMPILE)
t_programs_values_LDFLAGS =
t_find_key_SOURCES = t/find_key.c
t_find_key_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_find_key_LDADD = $(SQLITE_LIBS) $(ZSTD_LIBS)

# Programs of known behaviour, for the tests of collection. Without sanitizers; at
# equal addresses, thus neither dynamic nor position independent.
FIXED_COMPILE = $(WARN_CFLAGS) -fno-pie
FIXED_LINK = -static
check_PROGRAMS += t/programs/burn_a
t_programs_burn_a_SOURCES = t/programs/burn.c
t_programs_burn_a_CPPFLAGS = -DBURN=burn_a
t_programs_burn_a_CFLAGS = $(FIXED_COMPILE)
t_programs_burn_a_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/burn_b
t_programs_burn_b_SOURCES = t/programs/burn.c
t_programs_burn_b_CPPFLAGS = -DBURN=burn_b
t_programs_burn_b_CFLAGS = $(FIXED_COMPILE)
t_programs_burn_b_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/burn_c
t_programs_burn_c_SOURCES = t/programs/burn.c
t_programs_burn_c_CPPFLAGS = -DBURN=burn_c
t_programs_burn_c_CFLAGS = $(FIXED_COMPILE)
t_programs_burn_c_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/branch
t_programs_branch_SOURCES = t/programs/branch.c
t_programs_branch_CFLAGS = $(FIXED_COMPILE)
t_programs_branch_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/rounds
t_programs_rounds_SOURCES = t/programs/rounds.c
t_programs_rounds_CFLAGS = $(FIXED_COMPILE)
t_programs_rounds_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/fault
t_programs_fault_SOURCES = t/programs/fault.c
t_programs_fault_CFLAGS = $(FIXED_COMPILE)
t_programs_fault_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/crowd
t_programs_crowd_SOURCES = t/programs/crowd.c
t_programs_crowd_CFLAGS = $(FIXED_COMPILE)
t_programs_crowd_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/floods
t_programs_floods_SOURCES = t/programs/floods.c
t_programs_floods_CFLAGS = $(FIXED_COMPILE) -O2
t_programs_floods_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/hidden
t_programs_hidden_SOURCES = t/programs/hidden.c
t_programs_hidden_CFLAGS = $(FIXED_COMPILE)
t_programs_hidden_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/into
t_programs_into_SOURCES = t/programs/into.c
t_programs_into_CFLAGS = $(FIXED_COMPILE)
t_programs_into_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/stacks
t_programs_stacks_SOURCES = t/programs/stacks.c
t_programs_stacks_CFLAGS = $(WARN_CFLAGS) -O1 -fno-omit-frame-pointer \
	-mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls
t_programs_stacks_LDFLAGS =
t_programs_stacks_LDADD = -lpthread
check_PROGRAMS += t/programs/workers
t_programs_workers_SOURCES = t/programs/workers.c
t_programs_workers_CFLAGS = $(WARN_CFLAGS) -O1 -fno-omit-frame-pointer
t_programs_workers_LDADD = -lpthread
check_PROGRAMS += t/programs/spawn
t_programs_spawn_SOURCES = t/programs/spawn.c
t_programs_spawn_CFLAGS = $(FIXED_COMPILE)
t_programs_spawn_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/jit
t_programs_jit_SOURCES = t/programs/jit.c t/programs/jitdump.h
t_programs_jit_CFLAGS = $(FIXED_COMPILE)
t_programs_jit_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/memfd
t_programs_memfd_SOURCES = t/programs/memfd.c
t_programs_memfd_CFLAGS = $(FIXED_COMPILE)
t_programs_memfd_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/moved
t_programs_moved_SOURCES = t/programs/moved.c
t_programs_moved_CFLAGS = $(FIXED_COMPILE)
t_programs_moved_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/split
t_programs_split_SOURCES = t/programs/split.c
t_programs_split_CFLAGS = $(FIXED_COMPILE)
t_programs_split_LDFLAGS = $(FIXED_LINK)
# As programs are compiled, whatever the build's own options.
check_PROGRAMS += t/programs/linger
t_programs_linger_SOURCES = t/programs/linger.c t/lingering.h
t_programs_linger_CFLAGS = $(AM_CFLAGS)
check_PROGRAMS += t/programs/older
t_programs_older_SOURCES = t/programs/older.c
t_programs_older_CFLAGS = $(AM_CFLAGS)
check_PROGRAMS += t/programs/halt
t_programs_halt_SOURCES = t/programs/halt.c
t_programs_halt_CFLAGS = $(AM_CFLAGS)
check_PROGRAMS += t/programs/stall
t_programs_stall_SOURCES = t/programs/stall.c
t_programs_stall_CFLAGS = $(FIXED_COMPILE) -O2
t_programs_stall_LDFLAGS = $(FIXED_LINK)

# The loader hook, the programs that it is loaded into, and who it talks to.
HOOK_TESTS = t/0601-hook-host.t t/0602-hook-announcements.t t/0603-hook-gap.t \
	t/0604-hook-register.t t/0605-hook-oracle.t
EXTRA_DIST += t/register_ask.py
dist_check_SCRIPTS += $(HOOK_TESTS)
QUICK_TESTS += t/0601-hook-host.t
LONG_TESTS += t/0602-hook-announcements.t t/0603-hook-gap.t t/0604-hook-register.t t/0605-hook-oracle.t
check_PROGRAMS += t/announce_peer t/programs/loader t/programs/loaded.so
t_announce_peer_CFLAGS = $(AM_CFLAGS)
t_programs_loader_SOURCES = t/programs/loader.c
t_programs_loader_CFLAGS = $(WARN_CFLAGS) -O2
t_programs_loader_LDFLAGS = -pthread
t_programs_loaded_so_SOURCES = t/programs/loaded.c
t_programs_loaded_so_CFLAGS = $(WARN_CFLAGS) -fPIC
t_programs_loaded_so_LDFLAGS = -shared
check_PROGRAMS += t/programs/timed
t_programs_timed_SOURCES = t/programs/timed.c
t_programs_timed_CFLAGS = $(FIXED_COMPILE) -O2
t_programs_timed_LDFLAGS = $(FIXED_LINK)

# What differs from run to run.
RUNS_TESTS = t/0112-cli-stats.t t/0113-cli-diff.t t/0115-diff-rolled.t
dist_check_SCRIPTS += $(RUNS_TESTS)
QUICK_TESTS += $(RUNS_TESTS)
dist_check_SCRIPTS += t/0342-diff-mix.t t/0343-diff-builds.t t/0147-deploy-regression.t
LONG_TESTS += t/0342-diff-mix.t t/0343-diff-builds.t t/0147-deploy-regression.t
EXTRA_DIST += t/accuracy/compare
check_PROGRAMS += t/programs/builds_old t/programs/builds_new
t_programs_builds_old_SOURCES = t/programs/builds.c
t_programs_builds_old_CFLAGS = $(FIXED_COMPILE) -O2
t_programs_builds_old_LDFLAGS = $(FIXED_LINK)
t_programs_builds_new_SOURCES = t/programs/builds.c
t_programs_builds_new_CFLAGS = $(FIXED_COMPILE) -O2 -DLATER
t_programs_builds_new_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/programs/mix
t_programs_mix_SOURCES = t/programs/mix.c
t_programs_mix_CFLAGS = $(FIXED_COMPILE) -O2
t_programs_mix_LDFLAGS = $(FIXED_LINK)
check_PROGRAMS += t/runsdb
t_runsdb_SOURCES = t/runsdb.c t/makedb.h
t_runsdb_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_runsdb_LDADD = $(t_mkdb_LDADD)

# Recorded samples, against perf.
dist_check_SCRIPTS += t/0125-import-perf.t t/0126-import-forms.t t/0127-import-edges.t
QUICK_TESTS += t/0125-import-perf.t t/0126-import-forms.t t/0127-import-edges.t
dist_check_SCRIPTS += t/0132-import-stacks.t t/0133-import-spe.t
QUICK_TESTS += t/0132-import-stacks.t t/0133-import-spe.t
dist_check_SCRIPTS += t/0150-import-kernel.t t/0151-cli-symbols.t
QUICK_TESTS += t/0150-import-kernel.t t/0151-cli-symbols.t
EXTRA_DIST += t/perfdata_chains.py t/perfdata_make.py t/perfdata_oracle.py t/perfdata_spe.py
EXTRA_DIST += t/perfdata_loop.py t/perfdata_stacks.py
check_PROGRAMS += t/perfdata_dump
t_perfdata_dump_SOURCES = t/perfdata_dump.c
t_perfdata_dump_CFLAGS = $(AM_CFLAGS)
t_perfdata_dump_LDADD = daemon/libdaemon.a base/libbase.a $(ZSTD_LIBS)
# Trees and pictures of call stacks.
CALLS_TESTS = t/0124-cli-tree.t t/0128-cli-flame.t
EXTRA_DIST += t/browser.py
dist_check_SCRIPTS += $(CALLS_TESTS)
QUICK_TESTS += $(CALLS_TESTS)

# Hardware's records in a database.
check_PROGRAMS += t/recordsdb
t_recordsdb_SOURCES = t/recordsdb.c t/makedb.h
t_recordsdb_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_recordsdb_LDADD = $(t_mkdb_LDADD)

# Mispredicted branches, against a published predictor: t/accuracy/predict.
check_PROGRAMS += t/accuracy/predict_measure t/accuracy/branch_kernels
t_accuracy_predict_measure_SOURCES = t/accuracy/predict_measure.c t/accuracy/tage.c \
	t/accuracy/tage.h
t_accuracy_predict_measure_CFLAGS = $(AM_CFLAGS)
t_accuracy_predict_measure_LDADD = $(t_accuracy_freq_dump_LDADD)
t_accuracy_branch_kernels_SOURCES = t/accuracy/branch_kernels.c
t_accuracy_branch_kernels_CFLAGS = $(AM_CFLAGS) -O2 -fno-unroll-loops
EXTRA_DIST += t/accuracy/predict
dist_check_SCRIPTS += t/0333-predict-kernels.t
LONG_TESTS += t/0333-predict-kernels.t
# Paths from branch histories: t/accuracy/paths.
check_PROGRAMS += t/accuracy/path_measure
PATHS = t/accuracy/branch_paths.c t/accuracy/branch_paths.h t/accuracy/paths_graph.c t/accuracy/paths_private.h
t_accuracy_path_measure_SOURCES = t/accuracy/path_measure.c $(PATHS)
t_accuracy_path_measure_CFLAGS = $(AM_CFLAGS)
t_accuracy_path_measure_LDADD = $(t_accuracy_freq_dump_LDADD)
EXTRA_DIST += t/accuracy/paths t/accuracy/path_program.c t/uop_name.h

# Frequencies from several hardware events: t/accuracy/events.
check_PROGRAMS += t/accuracy/event_measure
t_accuracy_event_measure_SOURCES = t/accuracy/event_measure.c \
	t/accuracy/event_core.c t/accuracy/event_core.h \
	t/accuracy/event_graph.c t/accuracy/event_graph.h t/accuracy/event_trace.c
t_accuracy_event_measure_CFLAGS = $(AM_CFLAGS)
t_accuracy_event_measure_LDADD = $(t_accuracy_freq_dump_LDADD)
EXTRA_DIST += t/accuracy/events t/accuracy/event_program.c t/accuracy/event_traces.py

# Windows, against single-stepping the same instructions.
WINDOW_TESTS = t/0359-windows-rights.t t/0344-windows-budget.t t/0346-windows-pairs.t t/0347-windows-jit.t \
	t/0398-windows-stepped.t t/0399-windows-collect.t
dist_check_SCRIPTS += $(WINDOW_TESTS)
LONG_TESTS += $(WINDOW_TESTS)
EXTRA_DIST += t/stepped.bpf.c t/stepped.h t/stepper.c t/window_agrees.h t/window_kmod.c \
	t/window_stepped.c
if WINDOWS
check_PROGRAMS += t/window_kmod t/window_stepped t/stepper.so
endif
t_window_kmod_SOURCES = t/window_kmod.c t/window_agrees.h t/window_pages.c t/window_pages.h
t_window_kmod_CFLAGS = $(AM_CFLAGS)
t_window_kmod_LDADD = daemon/libdaemon.a analysis/libanalysis.a base/libbase.a $(ZYDIS_LIBS)
CLEANFILES += t/stepped.skel.h t/stepped.bpf.o t/stepped.bpf.tmp.o
check_PROGRAMS += t/programs/absent
t_programs_absent_SOURCES = t/programs/absent.c
t_programs_absent_CFLAGS = $(FIXED_COMPILE)
t_programs_absent_LDFLAGS = $(FIXED_LINK)
# x86-64 code, which it writes itself.
check_PROGRAMS += t/programs/rewritten
t_programs_rewritten_SOURCES = t/programs/rewritten.c t/programs/jitdump.h
t_programs_rewritten_CFLAGS = $(WARN_CFLAGS)
t_programs_rewritten_LDFLAGS =
check_PROGRAMS += t/programs/guarded
t_programs_guarded_SOURCES = t/programs/guarded.c
t_programs_guarded_CFLAGS = $(WARN_CFLAGS)
t_programs_guarded_LDFLAGS =
t_programs_guarded_LDADD = -lpthread
t_stepper_so_SOURCES = t/stepper.c t/stepped.h t/data_truth.h
t_stepper_so_CFLAGS = $(WARN_CFLAGS) -O2 -fPIC
t_stepper_so_LDFLAGS = -shared
t_window_stepped_SOURCES = t/window_stepped.c t/stepped.h t/window_agrees.h t/data_truth.c \
	t/data_truth.h
t_window_stepped_CFLAGS = $(AM_CFLAGS) $(BPF_CFLAGS)
t_window_stepped_LDADD = $(COLLECT_LDADD) $(ZYDIS_LIBS)
t/window_stepped-window_stepped.$(OBJEXT): t/stepped.skel.h
t/stepped.bpf.o: t/stepped.bpf.c daemon/cpi_window.bpf.o
	$(MAKE_BPF_OBJECT)
t/stepped.skel.h: t/stepped.bpf.o
	$(MAKE_BPF_SKELETON)
# Time that hardware measured.
EXTRA_DIST += t/perfdata_target.py t/precise_check.py t/precise_make.py
dist_check_SCRIPTS += t/0348-several-events.t t/0354-precise-time.t t/0355-records-why.t
QUICK_TESTS += t/0348-several-events.t t/0354-precise-time.t t/0355-records-why.t
# Fleets: real stores, where they are installed.
EXTRA_DIST += t/clickhouse.sh t/clickhouse_now.js t/cluster.sh t/faulty_proxy.py
FLEET_TESTS = t/0901-fleet-ship.t t/0902-fleet-reports.t t/0912-diff-machines.t
FLEET_LONG_TESTS = t/0917-ship-faults.t t/0903-fleet-origin.t t/0904-fleet-top.t t/0905-fleet-outliers.t \
	t/0906-fleet-chaos.t t/0907-fleet-sums.t t/0908-fleet-thinned.t t/0910-ship-service.t \
	t/0911-fleet-limits.t t/0913-fleet-cluster.t t/0914-fleet-grow.t \
	t/0915-fleet-summary.t t/0916-fleet-busy.t t/0918-fleet-join.t
dist_check_SCRIPTS += $(FLEET_TESTS) $(FLEET_LONG_TESTS)
QUICK_TESTS += $(FLEET_TESTS)
LONG_TESTS += $(FLEET_LONG_TESTS)
