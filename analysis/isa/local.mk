# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/isa/isa.c analysis/isa/isa.h analysis/isa/isa_aarch64.c \
	analysis/isa/isa_kept.c analysis/isa/isa_kept.h \
	analysis/isa/isa_machine.h analysis/isa/isa_schedule.c analysis/isa/isa_seen.c \
	analysis/isa/isa_seen.h analysis/isa/isa_x86_64.c analysis/isa/llvm.cpp \
	analysis/isa/llvm.h
EXTRA_DIST += analysis/isa/README.md
