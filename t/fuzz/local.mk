# SPDX-License-Identifier: GPL-2.0-or-later
# A new target NAME: fuzz_NAME.c, corpus/NAME/, and lines as codec's below. What it reads
# with is listed in FUZZED_C, because libFuzzer must see the branches: these sources
# are compiled once more for all targets. Without libFuzzer the targets link the usual
# libraries and replay their corpus. To fuzz: configure with CC=clang
# --enable-sanitizers, then t/fuzz/fuzz_NAME FOLDER.
FUZZ_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(ZSTD_CFLAGS) $(ELF_CFLAGS) $(DW_CFLAGS) \
	$(LZMA_CFLAGS) $(NETTLE_CFLAGS)
FUZZ_MAIN = t/fuzz/fuzz.h
FUZZ_LINK = $(AM_LDFLAGS)
QUICK_TESTS += t/fuzz/corpus.t
EXTRA_DIST += t/fuzz/campaign t/fuzz/corpus.t t/fuzz/corpus t/fuzz/replay.c

# LLVM, libunwind and Zydis come from their libraries: they are not ours to look into.
FUZZED_C = \
	analysis/image/captured.c analysis/image/captured_decode.c analysis/image/captured_encode.c \
	analysis/image/cover.c analysis/image/cursor.c analysis/image/debugfile.c \
	analysis/image/debuginfo.c analysis/image/demangle.c analysis/image/ehframe.c \
	analysis/image/elffile.c analysis/image/elfsyms.c analysis/image/elfview.c \
	analysis/image/image.c analysis/image/inlines.c analysis/image/lines.c \
	analysis/image/lsda.c analysis/image/plt.c analysis/image/recorder.c \
	analysis/image/splitfile.c analysis/image/splitset.c analysis/image/splitunit.c \
	analysis/image/sums.c analysis/image/symtab.c \
	analysis/isa/isa.c analysis/isa/isa_aarch64.c analysis/isa/isa_schedule.c \
	analysis/isa/isa_seen.c analysis/isa/isa_x86_64.c \
	analysis/trace/tip.c analysis/trace/trace.c analysis/trace/trace_kanata.c \
	analysis/trace/trace_o3.c analysis/trace/trace_tokens.c \
	base/arena.c base/buf.c base/did_you_mean.c base/err.c base/fdpass.c base/file.c \
	base/file_open.c base/hmap.c base/jsontext.c base/log.c base/log_repeats.c \
	base/mapping.c base/number.c base/text.c base/times.c base/varint.c \
	daemon/collect/spefeed.c daemon/collect/threads.c service/unitfile.c \
	daemon/import/perfaux.c daemon/import/perfaux_info.c daemon/import/perfdata.c \
	daemon/import/perfdata_attr.c daemon/import/perfdata_header.c \
	daemon/import/perfdata_queue.c daemon/import/perfdata_record.c \
	daemon/import/perfdata_sample.c daemon/import/perfdata_source.c \
	daemon/import/perfdata_unpack.c daemon/jit/jitdump.c daemon/jit/jitmap.c \
	daemon/mappings/announcement.c daemon/os/tipfile.c daemon/store/capture_child.c \
	db/profile/accesses.c db/profile/accesses_codec.c \
	db/profile/codec.c db/profile/codec_records.c db/profile/edges.c db/profile/pack.c \
	db/profile/profile.c db/profile/records.c db/profile/stacktree.c \
	db/profile/stacktree_codec.c db/profile/stacktree_walk.c db/profile/windows.c \
	db/profile/windows_codec.c \
	decode/ibs.c decode/perffields.c decode/spe.c decode/spe_record.c
if UNWIND
FUZZED_C += analysis/unwind/unwind.c analysis/unwind/unwindtables.c
endif
# Most time of fuzz_window would go to the record of compared values, which guides no input
# there: code is decoded by libraries. Covered branches guide them all the same.
FUZZED_WINDOW = analysis/translate/translate.c analysis/translate/translate_lead.c \
	analysis/translate/translate_uop.c $(TRANSLATE_AARCH64) $(TRANSLATE_X86_64) \
	analysis/windows/codepack.c analysis/windows/walk.c daemon/windows/translate_check.c
if ZYDIS
FUZZED_C += $(FUZZED_WINDOW)
endif
FUZZ_OURS = daemon/libdaemon.a analysis/libanalysis.a db/libdb.a base/libbase.a
if FUZZER
FUZZ_CFLAGS += -fsanitize=fuzzer
FUZZ_WINDOW_CFLAGS = -fno-sanitize-coverage=trace-cmp
FUZZ_LINK += -fsanitize=fuzzer
FUZZED = t/fuzz/libfuzzed.a $(FUZZ_OURS)
check_LIBRARIES += t/fuzz/libfuzzed.a
t_fuzz_libfuzzed_a_SOURCES = $(FUZZED_C)
t_fuzz_libfuzzed_a_CFLAGS = $(FUZZ_CFLAGS)
else
FUZZED = $(FUZZ_OURS)
FUZZ_MAIN += t/fuzz/replay.c
endif
FUZZ_IMAGE_LDADD = $(FUZZED) $(DW_LIBS) $(ELF_LIBS) $(LZMA_LIBS) $(IBERTY_LIBS)

check_PROGRAMS += t/fuzz/fuzz_codec
t_fuzz_fuzz_codec_SOURCES = t/fuzz/fuzz_codec.c $(FUZZ_MAIN)
t_fuzz_fuzz_codec_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_codec_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_codec_LDADD = $(FUZZED) $(ZSTD_LIBS)

check_PROGRAMS += t/fuzz/fuzz_rowbinary
t_fuzz_fuzz_rowbinary_SOURCES = t/fuzz/fuzz_rowbinary.c db/clickhouse/rowbinary.c $(FUZZ_MAIN)
t_fuzz_fuzz_rowbinary_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_rowbinary_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_rowbinary_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_containers
t_fuzz_fuzz_containers_SOURCES = t/fuzz/fuzz_containers.c helpers/containers_read.c $(FUZZ_MAIN)
t_fuzz_fuzz_containers_CFLAGS = $(FUZZ_CFLAGS) $(CURL_CFLAGS) $(PROTOBUF_C_CFLAGS)
t_fuzz_fuzz_containers_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_containers_LDADD = $(FUZZED) $(SQLITE_LIBS) $(PROTOBUF_C_LIBS)
if PROTOBUF_C
nodist_t_fuzz_fuzz_containers_SOURCES = helpers/cri.pb-c.c
endif

check_PROGRAMS += t/fuzz/fuzz_stacktree
t_fuzz_fuzz_stacktree_SOURCES = t/fuzz/fuzz_stacktree.c $(FUZZ_MAIN)
t_fuzz_fuzz_stacktree_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_stacktree_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_stacktree_LDADD = $(FUZZED) $(ZSTD_LIBS)

check_PROGRAMS += t/fuzz/fuzz_branch
t_fuzz_fuzz_branch_SOURCES = t/fuzz/fuzz_branch.c $(FUZZ_MAIN)
t_fuzz_fuzz_branch_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_branch_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_branch_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_image
t_fuzz_fuzz_image_SOURCES = t/fuzz/fuzz_image.c t/unit/image_ask.h $(FUZZ_MAIN)
t_fuzz_fuzz_image_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_image_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_image_LDADD = $(FUZZ_IMAGE_LDADD)

check_PROGRAMS += t/fuzz/fuzz_capture
t_fuzz_fuzz_capture_SOURCES = t/fuzz/fuzz_capture.c $(FUZZ_MAIN)
t_fuzz_fuzz_capture_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_capture_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_capture_LDADD = $(FUZZ_IMAGE_LDADD) $(CAP_LIBS)

check_PROGRAMS += t/fuzz/fuzz_sums
t_fuzz_fuzz_sums_SOURCES = t/fuzz/fuzz_sums.c $(FUZZ_MAIN)
t_fuzz_fuzz_sums_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_sums_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_sums_LDADD = $(FUZZ_IMAGE_LDADD)

check_PROGRAMS += t/fuzz/fuzz_dwarf
EXTRA_DIST += t/fuzz/dwarf_seed.c t/fuzz/dwarf_seeds t/fuzz/window_seeds
t_fuzz_fuzz_dwarf_SOURCES = t/fuzz/fuzz_dwarf.c $(FUZZ_MAIN)
t_fuzz_fuzz_dwarf_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_dwarf_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_dwarf_LDADD = $(FUZZ_IMAGE_LDADD)

check_PROGRAMS += t/fuzz/fuzz_isa
t_fuzz_fuzz_isa_SOURCES = t/fuzz/fuzz_isa.c $(FUZZ_MAIN)
t_fuzz_fuzz_isa_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_isa_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_isa_LDADD = $(FUZZED) $(ANALYSIS_LIBS) -lm

check_PROGRAMS += t/fuzz/fuzz_jit
t_fuzz_fuzz_jit_SOURCES = t/fuzz/fuzz_jit.c $(FUZZ_MAIN)
t_fuzz_fuzz_jit_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_jit_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_jit_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_unitfile
t_fuzz_fuzz_unitfile_SOURCES = t/fuzz/fuzz_unitfile.c $(FUZZ_MAIN)
t_fuzz_fuzz_unitfile_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_unitfile_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_unitfile_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_announcement
t_fuzz_fuzz_announcement_SOURCES = t/fuzz/fuzz_announcement.c $(FUZZ_MAIN)
t_fuzz_fuzz_announcement_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_announcement_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_announcement_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_perfdata
t_fuzz_fuzz_perfdata_SOURCES = t/fuzz/fuzz_perfdata.c $(FUZZ_MAIN)
t_fuzz_fuzz_perfdata_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_perfdata_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_perfdata_LDADD = $(FUZZED) $(ZSTD_LIBS)

check_PROGRAMS += t/fuzz/fuzz_perfaux
t_fuzz_fuzz_perfaux_SOURCES = t/fuzz/fuzz_perfaux.c $(FUZZ_MAIN)
t_fuzz_fuzz_perfaux_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_perfaux_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_perfaux_LDADD = $(FUZZED) $(ZSTD_LIBS)

check_PROGRAMS += t/fuzz/fuzz_edges
t_fuzz_fuzz_edges_SOURCES = t/fuzz/fuzz_edges.c $(FUZZ_MAIN)
t_fuzz_fuzz_edges_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_edges_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_edges_LDADD = $(FUZZED) $(ZSTD_LIBS) -lm

check_PROGRAMS += t/fuzz/fuzz_accesses
t_fuzz_fuzz_accesses_SOURCES = t/fuzz/fuzz_accesses.c $(FUZZ_MAIN)
t_fuzz_fuzz_accesses_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_accesses_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_accesses_LDADD = $(FUZZED) $(ZSTD_LIBS)

check_PROGRAMS += t/fuzz/fuzz_windows
t_fuzz_fuzz_windows_SOURCES = t/fuzz/fuzz_windows.c $(FUZZ_MAIN)
t_fuzz_fuzz_windows_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_windows_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_windows_LDADD = $(FUZZED) $(ZSTD_LIBS) -lm

check_PROGRAMS += t/fuzz/fuzz_records
t_fuzz_fuzz_records_SOURCES = t/fuzz/fuzz_records.c $(RECORDS_TEXT) $(FUZZ_MAIN)
t_fuzz_fuzz_records_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_records_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_records_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_tip
t_fuzz_fuzz_tip_SOURCES = t/fuzz/fuzz_tip.c $(FUZZ_MAIN)
t_fuzz_fuzz_tip_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_tip_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_tip_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_trace
t_fuzz_fuzz_trace_SOURCES = t/fuzz/fuzz_trace.c $(FUZZ_MAIN)
t_fuzz_fuzz_trace_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_trace_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_trace_LDADD = $(FUZZED) -lm

if UNWIND
check_PROGRAMS += t/fuzz/fuzz_unwind t/fuzz/fuzz_unwindwire
endif
t_fuzz_fuzz_unwindwire_SOURCES = t/fuzz/fuzz_unwindwire.c helpers/unwind_cache.c \
	helpers/unwind_worker.c $(FUZZ_MAIN)
t_fuzz_fuzz_unwindwire_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_unwindwire_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_unwindwire_LDADD = $(FUZZ_IMAGE_LDADD) $(UNWIND_LIBS)
t_fuzz_fuzz_unwind_SOURCES = t/fuzz/fuzz_unwind.c $(FUZZ_MAIN)
t_fuzz_fuzz_unwind_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_unwind_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_unwind_LDADD = $(FUZZ_IMAGE_LDADD) $(UNWIND_LIBS)

if ZYDIS
check_PROGRAMS += t/fuzz/fuzz_window
endif
t_fuzz_fuzz_window_SOURCES = t/fuzz/fuzz_window.c $(FUZZED_WINDOW) $(FUZZ_MAIN)
t_fuzz_fuzz_window_CFLAGS = $(FUZZ_CFLAGS) $(FUZZ_WINDOW_CFLAGS)
t_fuzz_fuzz_window_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_window_LDADD = $(FUZZED) $(ZYDIS_LIBS)

check_PROGRAMS += t/fuzz/fuzz_translate
t_fuzz_fuzz_translate_SOURCES = t/fuzz/fuzz_translate.c helpers/translate_work.c \
	daemon/windows/translate_child.c $(FUZZ_MAIN)
t_fuzz_fuzz_translate_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_translate_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_translate_LDADD = $(FUZZED) $(ZYDIS_LIBS)

# The library of the page's server may be missing, so these sources are named.
check_PROGRAMS += t/fuzz/fuzz_request
t_fuzz_fuzz_request_SOURCES = t/fuzz/fuzz_request.c web/api.c web/header.c web/target.c db/clickhouse/storeurl.c $(FUZZ_MAIN)
t_fuzz_fuzz_request_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_request_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_request_LDADD = $(FUZZED) $(NETTLE_LIBS)

check_PROGRAMS += t/fuzz/fuzz_job
t_fuzz_fuzz_job_SOURCES = t/fuzz/fuzz_job.c helpers/capture_work.c $(FUZZ_MAIN)
t_fuzz_fuzz_job_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_job_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_job_LDADD = $(FUZZED) $(ANALYSIS_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) -lm

check_PROGRAMS += t/fuzz/fuzz_descriptors
t_fuzz_fuzz_descriptors_SOURCES = t/fuzz/fuzz_descriptors.c daemon/os/foreignfds.c $(FUZZ_MAIN)
t_fuzz_fuzz_descriptors_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_descriptors_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_descriptors_LDADD = $(FUZZED)

check_PROGRAMS += t/fuzz/fuzz_rows
t_fuzz_fuzz_rows_SOURCES = t/fuzz/fuzz_rows.c db/core/check.c db/core/rows.c \
	db/core/schema_check.c db/query/contexts.c db/query/epochs.c db/query/places.c \
	db/query/query.c db/query/sums.c db/query/totals.c report/profile/prof.c \
	report/profile/prof_parts.c report/profile/prof_rows.c report/select/events.c \
	report/select/evidence.c report/select/select.c $(FUZZ_MAIN)
t_fuzz_fuzz_rows_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_rows_LDFLAGS = $(FUZZ_LINK) -Wl,--wrap=db_open,--wrap=db_close
t_fuzz_fuzz_rows_LDADD = report/libreport.a analysis/libanalysis.a db/libstore.a \
	db/libdb.a base/libbase.a $(ANALYSIS_LIBS) $(SQLITE_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) \
	$(CURL_LIBS) -lm

# What a target stands in for is not linked: the session, and how helpers are started.
check_PROGRAMS += t/fuzz/fuzz_control
t_fuzz_fuzz_control_SOURCES = t/fuzz/fuzz_control.c daemon/control/control_request.c \
	report/select/client.c $(FUZZ_MAIN)
t_fuzz_fuzz_control_CFLAGS = $(FUZZ_CFLAGS)
t_fuzz_fuzz_control_LDFLAGS = $(FUZZ_LINK)
t_fuzz_fuzz_control_LDADD = $(FUZZED)
