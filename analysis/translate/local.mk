# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	$(TRANSLATE_AARCH64) analysis/translate/translate.c \
	analysis/translate/translate.h analysis/translate/translate_form.c \
	analysis/translate/translate_lead.c \
	analysis/translate/translate_machine.h analysis/translate/translate_uop.c

TRANSLATE_AARCH64 = analysis/translate/translate_aarch64.c analysis/translate/translate_aarch64.h \
	analysis/translate/translate_aarch64_control.c analysis/translate/translate_aarch64_integer.c \
	analysis/translate/translate_aarch64_memory.c analysis/translate/translate_aarch64_operand.c \
	analysis/translate/translate_aarch64_rules.c analysis/translate/translate_aarch64_vector.c
# Windows of x86-64 code, where Zydis is.
TRANSLATE_X86_64 = analysis/translate/translate_x86_64.c analysis/translate/translate_x86_64.h \
	analysis/translate/translate_x86_64_control.c analysis/translate/translate_x86_64_integer.c \
	analysis/translate/translate_x86_64_mask.c analysis/translate/translate_x86_64_move.c \
	analysis/translate/translate_x86_64_operand.c analysis/translate/translate_x86_64_rules.c \
	analysis/translate/translate_x86_64_vector.c
EXTRA_DIST += $(TRANSLATE_X86_64)
if ZYDIS
analysis_libanalysis_a_SOURCES += $(TRANSLATE_X86_64)
endif
EXTRA_DIST += analysis/translate/README.md
