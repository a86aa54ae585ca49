# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/image/captured.c analysis/image/captured.h \
	analysis/image/captured_decode.c analysis/image/captured_encode.c \
	analysis/image/cover.c analysis/image/cover.h analysis/image/cursor.c \
	analysis/image/cursor.h analysis/image/debugfile.c analysis/image/debugfile.h \
	analysis/image/debuginfo.c analysis/image/debuginfo.h \
	analysis/image/demangle.c analysis/image/demangle.h \
	analysis/image/discriminator.h analysis/image/ehframe.c \
	analysis/image/ehframe.h analysis/image/elffile.c analysis/image/elffile.h \
	analysis/image/elfsyms.c analysis/image/elfsyms.h analysis/image/elfview.c \
	analysis/image/elfview.h analysis/image/image.c analysis/image/image.h \
	analysis/image/inlines.c analysis/image/inlines.h analysis/image/lines.c \
	analysis/image/lines.h analysis/image/lsda.c analysis/image/lsda.h \
	analysis/image/plt.c analysis/image/plt.h analysis/image/recorder.c \
	analysis/image/recorder.h analysis/image/splitfile.c \
	analysis/image/splitfile.h analysis/image/splitset.c analysis/image/splitset.h \
	analysis/image/splitunit.c analysis/image/splitunit.h analysis/image/sums.c \
	analysis/image/sums.h analysis/image/symtab.c analysis/image/symtab.h
EXTRA_DIST += analysis/image/README.md
