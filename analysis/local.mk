# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += analysis/libanalysis.a
analysis_libanalysis_a_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS) $(DW_CFLAGS) $(LZMA_CFLAGS)
analysis_libanalysis_a_CXXFLAGS = $(AM_CXXFLAGS) $(LLVM_CXXFLAGS)
analysis_libanalysis_a_SOURCES = \
	analysis/bias.c analysis/bias.h \
	analysis/anchored.c analysis/anchored.h \
	analysis/blame.c analysis/blame.h \
	analysis/blame_address.c analysis/blame_address.h \
	analysis/blame_branch.c \
	analysis/blame_case.c analysis/blame_case.h \
	analysis/blame_data.c \
	analysis/blame_fetch.c \
	analysis/blame_path.c analysis/blame_path.h \
	analysis/blame_sum.c \
	analysis/blame_units.c \
	analysis/branchprob.c analysis/branchprob.h \
	analysis/captured.c analysis/captured.h \
	analysis/captured_decode.c analysis/captured_encode.c \
	analysis/callgraph.c analysis/callgraph.h \
	analysis/balance.c analysis/balance.h \
	analysis/callscale.c analysis/callscale.h \
	analysis/callsum.c analysis/callsum.h \
	analysis/calltree.c analysis/calltree.h \
	analysis/chain.c analysis/chain.h \
	analysis/cfg.c analysis/cfg.h \
	analysis/cfg_code.c analysis/cfg_code.h \
	analysis/cfg_noreturn.c \
	analysis/cfg_table.c \
	analysis/cfg_value.c analysis/cfg_value.h \
	analysis/combine.c analysis/combine.h \
	analysis/compare.c analysis/compare.h \
	analysis/compare_parts.c analysis/compare_parts.h \
	analysis/compare_size.c analysis/compare_size.h \
	analysis/cover.c analysis/cover.h \
	analysis/cursor.c analysis/cursor.h \
	analysis/debugfile.c analysis/debugfile.h \
	analysis/debuginfo.c analysis/debuginfo.h \
	analysis/demangle.c analysis/demangle.h \
	analysis/discriminator.h \
	analysis/distribution.c analysis/distribution.h \
	analysis/ehframe.c analysis/ehframe.h \
	analysis/elffile.c analysis/elffile.h \
	analysis/elfsyms.c analysis/elfsyms.h \
	analysis/elfview.c analysis/elfview.h \
	analysis/equiv.c analysis/equiv.h \
	analysis/estimate.c analysis/estimate.h \
	analysis/explain.c analysis/explain.h \
	analysis/feedback.c analysis/feedback.h \
	analysis/feedback_carry.c analysis/feedback_carry.h \
	analysis/feedback_finish.c \
	analysis/flow.c analysis/flow.h \
	analysis/counted.c analysis/counted.h \
	analysis/fuse.c analysis/fuse.h \
	analysis/passed.c analysis/passed.h \
	analysis/pathcount.c analysis/pathcount.h \
	analysis/pathwalk.c analysis/pathwalk.h \
	analysis/followed.c analysis/followed.h \
	analysis/freq.c analysis/freq.h \
	analysis/hwrecord.c analysis/hwrecord.h \
	analysis/ibs.c analysis/ibs.h analysis/ibs_fields.h \
	analysis/ibs_text.c \
	analysis/image.c analysis/image.h \
	analysis/inlines.c analysis/inlines.h \
	analysis/interval.c analysis/interval.h \
	analysis/isa.c analysis/isa.h \
	analysis/isa_aarch64.c analysis/isa_machine.h \
	analysis/isa_schedule.c \
	analysis/isa_seen.c analysis/isa_seen.h \
	analysis/isa_x86_64.c \
	analysis/landing.c analysis/landing.h \
	analysis/lines.c analysis/lines.h \
	analysis/llvm.cpp analysis/llvm.h \
	analysis/loops.c analysis/loops.h \
	analysis/lsda.c analysis/lsda.h \
	analysis/perffields.c analysis/perffields.h \
	analysis/pairs.c analysis/pairs.h \
	analysis/paths.c analysis/paths.h \
	analysis/paths_graph.c analysis/paths_private.h \
	analysis/plt.c analysis/plt.h \
	analysis/precise.c analysis/precise.h \
	analysis/propagate.c analysis/propagate.h \
	analysis/rates.c analysis/rates.h \
	analysis/recorder.c analysis/recorder.h \
	analysis/repair.c analysis/repair.h \
	analysis/shape.c analysis/shape.h \
	analysis/similar.c analysis/similar.h \
	analysis/spe.c analysis/spe.h analysis/spe_bits.h \
	analysis/spe_record.c analysis/spe_text.c \
	analysis/splitfile.c analysis/splitfile.h \
	analysis/splitset.c analysis/splitset.h \
	analysis/splitunit.c analysis/splitunit.h \
	analysis/spread.c analysis/spread.h \
	analysis/sums.c analysis/sums.h \
	analysis/symtab.c analysis/symtab.h \
	analysis/tip.c analysis/tip.h \
	analysis/traffic.c analysis/traffic.h \
	analysis/trace.c analysis/trace.h \
	analysis/trace_kanata.c \
	analysis/trace_o3.c \
	analysis/trace_tokens.c \
	analysis/translate.c analysis/translate.h analysis/translate_machine.h \
	analysis/translate_uop.c $(TRANSLATE_AARCH64) \
	analysis/unwind.h \
	analysis/unwindtables.c analysis/unwindtables.h \
	analysis/walk.c analysis/walk.h

# Unwinding by tables, where libunwind is.
EXTRA_DIST += analysis/unwind.c analysis/unwind_none.c
if UNWIND
analysis_libanalysis_a_SOURCES += analysis/unwind.c
else
analysis_libanalysis_a_SOURCES += analysis/unwind_none.c
endif

TRANSLATE_AARCH64 = analysis/translate_aarch64.c analysis/translate_aarch64.h \
	analysis/translate_aarch64_control.c analysis/translate_aarch64_integer.c \
	analysis/translate_aarch64_memory.c analysis/translate_aarch64_operand.c \
	analysis/translate_aarch64_rules.c analysis/translate_aarch64_vector.c
# Windows of x86-64 code, where Zydis is.
TRANSLATE_X86_64 = analysis/translate_x86_64.c analysis/translate_x86_64.h \
	analysis/translate_x86_64_control.c analysis/translate_x86_64_integer.c \
	analysis/translate_x86_64_mask.c analysis/translate_x86_64_move.c \
	analysis/translate_x86_64_operand.c analysis/translate_x86_64_rules.c \
	analysis/translate_x86_64_vector.c
EXTRA_DIST += $(TRANSLATE_X86_64)
if ZYDIS
analysis_libanalysis_a_SOURCES += $(TRANSLATE_X86_64)
endif

# What a program that links libanalysis.a needs behind it.
ANALYSIS_LIBS = $(ZYDIS_LIBS) $(DW_LIBS) $(ELF_LIBS) $(LZMA_LIBS) $(LLVM_LIBS) $(IBERTY_LIBS)
