# SPDX-License-Identifier: GPL-2.0-or-later
# The simulator is built for `make check`, which runs a short trace, and by
# `make bench`. One library per variant of the table: the same source.
EXTRA_DIST += t/bench/fleet t/bench/web_frames.py t/bench/web_pictures t/bench/web_pictures.py t/bench/web_runs.py t/bench/web_year t/bench/web_year.py
BENCHES = t/bench/table_sim t/bench/explain_bench
check_PROGRAMS += t/bench/table_sim
t_bench_table_sim_SOURCES = t/bench/table_sim.c t/bench/sim.c t/bench/sim.h \
	t/bench/trace.c t/bench/trace.h
t_bench_table_sim_LDADD = $(SIM_VARIANTS) base/libbase.a

SIM_VARIANTS = t/bench/libsim1.a \
	t/bench/libsim2r.a \
	t/bench/libsim2s.a \
	t/bench/libsim4r.a \
	t/bench/libsim4s.a \
	t/bench/libsim6r.a \
	t/bench/libsim6s.a \
	t/bench/libsim8r.a \
	t/bench/libsim8s.a
check_LIBRARIES += $(SIM_VARIANTS)
t_bench_libsim1_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim1_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_1_way \
	-DCPI_TABLE_WAYS=1 -DCPI_TABLE_SWAP_TO_FRONT=0
t_bench_libsim2r_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim2r_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_2_round_robin \
	-DCPI_TABLE_WAYS=2 -DCPI_TABLE_SWAP_TO_FRONT=0
t_bench_libsim2s_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim2s_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_2_swap \
	-DCPI_TABLE_WAYS=2 -DCPI_TABLE_SWAP_TO_FRONT=1
t_bench_libsim4r_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim4r_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_4_round_robin \
	-DCPI_TABLE_WAYS=4 -DCPI_TABLE_SWAP_TO_FRONT=0
t_bench_libsim4s_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim4s_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_4_swap \
	-DCPI_TABLE_WAYS=4 -DCPI_TABLE_SWAP_TO_FRONT=1
t_bench_libsim6r_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim6r_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_6_round_robin \
	-DCPI_TABLE_WAYS=6 -DCPI_TABLE_SWAP_TO_FRONT=0
t_bench_libsim6s_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim6s_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_6_swap \
	-DCPI_TABLE_WAYS=6 -DCPI_TABLE_SWAP_TO_FRONT=1
t_bench_libsim8r_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim8r_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_8_round_robin \
	-DCPI_TABLE_WAYS=8 -DCPI_TABLE_SWAP_TO_FRONT=0
t_bench_libsim8s_a_SOURCES = t/bench/sim_variant.c
t_bench_libsim8s_a_CPPFLAGS = $(AM_CPPFLAGS) -DSIM_NAME=sim_8_swap \
	-DCPI_TABLE_WAYS=8 -DCPI_TABLE_SWAP_TO_FRONT=1

# The BPF collector's program, and others over the kernel's usual maps.
EXTRA_DIST += t/bench/flips.c t/bench/handler.c t/bench/stock.bpf.c t/bench/verified.c
if BPF
check_PROGRAMS += t/bench/flips t/bench/handler t/bench/verified
BENCHES += t/bench/flips t/bench/handler t/bench/verified
CLEANFILES += t/bench/stock.skel.h t/bench/stock.bpf.o t/bench/stock.bpf.tmp.o
t/bench/handler-handler.$(OBJEXT): t/bench/stock.skel.h
t/bench/verified-verified.$(OBJEXT): daemon/cpi.skel.h
t/bench/stock.bpf.o: t/bench/stock.bpf.c kmod/cpi_bpf_kernel.h kmod/table.h abi/entry.h
	$(MAKE_BPF_OBJECT)
t/bench/stock.skel.h: t/bench/stock.bpf.o
	$(MAKE_BPF_SKELETON)
endif
t_bench_flips_SOURCES = t/bench/flips.c t/bpf_sampler.c t/bpf_sampler.h
t_bench_flips_CFLAGS = $(AM_CFLAGS) $(BPF_CFLAGS)
t_bench_flips_LDADD = $(COLLECT_LDADD)
t_bench_handler_CFLAGS = $(AM_CFLAGS) $(BPF_CFLAGS)
t_bench_handler_LDADD = $(COLLECT_LDADD)
t_bench_verified_CFLAGS = $(AM_CFLAGS) $(BPF_CFLAGS)
t_bench_verified_LDADD = $(COLLECT_LDADD)
# How fast entries are attributed.
BENCHES += t/bench/attribute_bench
check_PROGRAMS += t/bench/attribute_bench
t_bench_attribute_bench_SOURCES = t/bench/attribute_bench.c t/bench/crowd.h
t_bench_attribute_bench_CFLAGS = $(AM_CFLAGS)
t_bench_attribute_bench_LDADD = $(COLLECT_LDADD)
# What a question to the process that reads costs.
BENCHES += t/bench/timed_child_bench
check_PROGRAMS += t/bench/timed_child_bench
t_bench_timed_child_bench_SOURCES = t/bench/timed_child_bench.c
t_bench_timed_child_bench_CFLAGS = $(AM_CFLAGS)
t_bench_timed_child_bench_LDADD = $(COLLECT_LDADD)
# Machines of a fleet, to be shipped.
BENCHES += t/bench/fleet_hosts
check_PROGRAMS += t/bench/fleet_hosts
t_bench_fleet_hosts_SOURCES = t/bench/fleet_hosts.c t/makedb.h
t_bench_fleet_hosts_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_bench_fleet_hosts_LDADD = $(t_mkdb_LDADD) -lm
# How fast the analysis is.
check_PROGRAMS += t/bench/explain_bench
t_bench_explain_bench_SOURCES = t/bench/explain_bench.c
t_bench_explain_bench_CFLAGS = $(AM_CFLAGS)
t_bench_explain_bench_LDADD = $(t_accuracy_freq_dump_LDADD)

dist_check_SCRIPTS += t/bench/compare t/bench/overhead t/bench/serve t/bench/tick_bias t/bench/web \
	t/bench/floods t/bench/soak t/bench/workload
EXTRA_DIST += t/bench/README.md t/bench/contestants.py t/bench/copy.c \
	t/bench/overhead_table.py t/bench/profilers.py t/bench/spin.c
# What the loader hook adds to an exec.
check_PROGRAMS += t/bench/execs
t_bench_execs_CFLAGS = $(AM_CFLAGS)

dist_check_SCRIPTS += t/bench/compare t/bench/hook t/bench/imports t/bench/workload
EXTRA_DIST += t/bench/README.md t/bench/lines t/bench/lines_unit.cc
dist_check_SCRIPTS += t/bench/compare t/bench/counts t/bench/hook t/bench/imports t/bench/record t/bench/windows \
	t/bench/recordings t/bench/report \
	t/bench/tip t/bench/what_ran t/bench/workload
EXTRA_DIST += t/bench/README.md

dist_check_SCRIPTS += t/0401-bench-sim.t t/0402-bench-trace.t t/0403-bench-overhead.t
QUICK_TESTS += t/0401-bench-sim.t
LONG_TESTS += t/0402-bench-trace.t t/0403-bench-overhead.t
.PHONY: bench
bench: all $(BENCHES)
bench: t/bench/table_sim t/bench/explain_bench t/bench/execs t/announce_peer \
		loader-hook/libcpi-audit.so
	@echo 'The tables: cpi record -a --raw TRACE -- $(srcdir)/t/bench/workload 60'
	@echo '            t/bench/table_sim TRACE'
	@echo 'cpid and perf record: $(srcdir)/t/bench/compare'
	@echo 'cpid and everybody else: $(srcdir)/t/bench/overhead --quick --json FILE'
	@echo 'What cpid does, counted: $(srcdir)/t/bench/counts NAME=BUILD'
	@echo 'cpid for long: $(srcdir)/t/bench/soak 1800'
	@echo 'Attribution: t/bench/attribute_bench'
	@echo 'Reading apart: t/bench/timed_child_bench'
	@echo 'BPF: t/bench/handler $(srcdir)/t/bench/workload 120 spin'
	@echo 'Ticks: $(srcdir)/t/bench/tick_bias'
	@echo '     t/bench/flips, t/bench/verified'
	@echo 'The analysis: t/bench/explain_bench FILE'
	@echo 'The loader hook: $(srcdir)/t/bench/hook'
	@echo 'What is unknown: $(srcdir)/t/bench/what_ran'
	@echo 'See $(srcdir)/t/bench/README.md.'

# Months of the daemon's core with a stepped clock.
check_PROGRAMS += t/bench/months
t_bench_months_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
t_bench_months_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=time_mono_ns
t_bench_months_LDADD = $(COLLECT_LDADD)
