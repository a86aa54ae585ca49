#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi record runs beside perf record, which began first and must not lose anything.
. "$srcdir/t/tap.sh"

command -v perf >/dev/null || skip_all 'perf is not installed'
"$builddir/t/cpid_peer" can-sample || skip_all 'sampling the whole system is not permitted here'
plan 3

work='for i in $(seq 50); do /bin/true; done'
try 'perf record and cpi record run at the same time' perf record -q -a -e cpu-clock -F 99 -o perf.data -- \
	cpi record -a -F 99 -e cpu-clock -o t.db -- sh -c "$work"
perf script -i perf.data --show-mmap-events -F comm >script.txt 2>script.err
status=$?
sed 's/^/# /' script.err
# perf gives up at a BPF program that any process loads and unloads meanwhile.
if [ $status -ne 0 ] && grep -q 'failed to process type: 17' script.err; then
	skip 1 'perf cannot read the record of a BPF program that has gone'
else
	ok $status 'perf reads what it has recorded'
fi
like "$(grep -m 1 'MMAP2.*/bin/true' script.txt)" 'MMAP2' 'perf has the mappings of the programs'
