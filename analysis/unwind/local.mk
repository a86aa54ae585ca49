# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/unwind/unwind.h analysis/unwind/unwindtables.c \
	analysis/unwind/unwindtables.h

# Unwinding by tables, where libunwind is.
EXTRA_DIST += analysis/unwind/unwind.c analysis/unwind/unwind_none.c
if UNWIND
analysis_libanalysis_a_SOURCES += analysis/unwind/unwind.c
else
analysis_libanalysis_a_SOURCES += analysis/unwind/unwind_none.c
endif
EXTRA_DIST += analysis/unwind/README.md
