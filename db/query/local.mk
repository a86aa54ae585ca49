# SPDX-License-Identifier: GPL-2.0-or-later
db_libdb_a_SOURCES += \
	db/query/capture.c db/query/containers.c db/query/containers.h db/query/content.c db/query/content.h db/query/contexts.c db/query/contexts.h \
	db/query/epoch_numbers.c db/query/epoch_numbers.h db/query/epochs.c \
	db/query/kept_sums.c db/query/kept_sums.h db/query/marks.c db/query/marks.h \
	db/query/part_totals.c db/query/part_totals.h db/query/places.c db/query/places.h \
	db/query/query.c db/query/query.h db/query/query_edges.c db/query/scope.c db/query/scope.h \
	db/query/set_query.c db/query/set_query.h db/query/spread.c \
	db/query/spread.h db/query/stacks.c db/query/stacks.h db/query/sums.c db/query/sums.h db/query/totals.c \
	db/query/window_query.c db/query/window_query.h
EXTRA_DIST += db/query/README.md
