#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A trace is recorded and simulated. The benchmarks say what they lack if they cannot run.
. "$srcdir/t/tap.sh"
plan 7

"$srcdir/t/bench/workload" 1 everything 2>errors
is $? 2 'an unknown workload is a usage error'
try 'the workload ends' "$srcdir/t/bench/workload" 1 compile

if command -v python3 >/dev/null; then
	is "$("$srcdir/t/bench/compare" --perf=no-such-perf)" \
		'SKIP: there is no no-such-perf here: install linux-perf' \
		'the comparison is skipped without perf'
	"$srcdir/t/bench/compare" --seconds=0 2>errors
	is $? 2 'the comparison refuses a length of 0 s'
else
	skip 2 'python3 is not installed'
fi

if "$builddir/t/cpid_peer" can-sample; then
	cpi record -F 1000 -e cpu-clock --raw t.raw -o t.db -- \
		"$srcdir/t/bench/workload" 3 compile 2>errors
	is $? 0 'a trace is recorded'
	is "$(((($(stat -c %s t.raw) - 16)) / 32))" \
		"$(cpi status --all --db t.db 2>/dev/null | awk '
			$1 == "last_flush_received" { n += $2 }
			$1 == "lost_ring_lost" { n -= $2 }
			END { print n }')" \
		'the trace has every sample that arrived'
	try 'the simulator reads the recorded trace' "$builddir/t/bench/table_sim" --repeat=0 --size=1K t.raw
else
	skip 3 'sampling the whole system is not permitted here'
fi
