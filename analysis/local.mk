# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += analysis/libanalysis.a
analysis_libanalysis_a_CFLAGS = $(AM_CFLAGS) $(ELF_CFLAGS) $(DW_CFLAGS) $(LZMA_CFLAGS)
analysis_libanalysis_a_CXXFLAGS = $(AM_CXXFLAGS) $(LLVM_CXXFLAGS)
analysis_libanalysis_a_SOURCES =

# What a program that links libanalysis.a needs behind it.
ANALYSIS_LIBS = $(ZYDIS_LIBS) $(DW_LIBS) $(ELF_LIBS) $(LZMA_LIBS) $(LLVM_LIBS) $(IBERTY_LIBS)
