# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	analysis/math/callscale.c analysis/math/callscale.h \
	analysis/math/chain.c analysis/math/chain.h \
	analysis/math/distribution.c analysis/math/distribution.h \
	analysis/math/interval.c analysis/math/interval.h \
	analysis/math/spread.c analysis/math/spread.h analysis/math/unseen.h \
	analysis/math/weighted.c analysis/math/weighted.h \
	analysis/math/window_balance.c analysis/math/window_balance.h
EXTRA_DIST += analysis/math/README.md
