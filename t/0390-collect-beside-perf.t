#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two profilers at a time: perf record, begun first, must not suffer from ours.
. "$srcdir/t/tap.sh"

command -v perf >/dev/null || skip_all 'perf is not installed'
"$builddir/t/cpid_peer" can-sample || skip_all 'sampling the whole system is not permitted here'
plan 3

work='for i in $(seq 50); do /bin/true; done'
try 'both run' perf record -q -a -e cpu-clock -F 99 -o perf.data -- \
	cpi record -F 99 -e cpu-clock -o t.db -- sh -c "$work"
try 'perf reads what it has recorded' perf script -i perf.data --show-mmap-events -F comm
like "$(perf script -i perf.data --show-mmap-events 2>&1)" 'MMAP2.*/bin/true' \
	'and knows what was mapped'
