# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/freq/branchprob.c analysis/freq/branchprob.h \
	analysis/freq/branchstack.c analysis/freq/branchstack.h \
	analysis/freq/combine.c analysis/freq/combine.h \
	analysis/freq/estimate.c analysis/freq/estimate.h \
	analysis/freq/estimate_windows.c analysis/freq/estimate_windows.h \
	analysis/freq/flow.c analysis/freq/flow.h \
	analysis/freq/flow_repair.c analysis/freq/flow_repair.h \
	analysis/freq/freq.c analysis/freq/freq.h \
	analysis/freq/freq_scale.c \
	analysis/freq/landing.c analysis/freq/landing.h \
	analysis/freq/pace.c analysis/freq/pace.h \
	analysis/freq/precise.c analysis/freq/precise.h \
	analysis/freq/propagate.c analysis/freq/propagate.h \
	analysis/freq/scale.c analysis/freq/scale.h \
	analysis/freq/shape.c analysis/freq/shape.h \
	analysis/freq/traffic.c analysis/freq/traffic.h
EXTRA_DIST += analysis/freq/README.md
