#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The comparison of profilers: that it runs, keeps what it measured, and makes its tables.
# What it measures is nobody's to pass or fail.
. "$srcdir/t/tap.sh"

for tool in python3 gcc; do
	command -v "$tool" >/dev/null || skip_all "$tool is missing"
done
[ "$(id -u)" = 0 ] || skip_all 'the whole system is sampled: it takes root'
"$builddir/t/cpid_peer" can-sample ||
	skip_all 'sampling the whole system is not permitted here'
plan 16

overhead() {
	"$srcdir/t/bench/overhead" --scratch "$tmp" --json runs --long 0 --handler-rounds 0 \
		--workloads spin --contestants base,cpid-perf,bpftrace "$@" >table 2>errors
}

# value EXPRESSION: of data, what is in the file of runs.
value() {
	python3 -c "import json; data = json.load(open('runs')); print($1)"
}

PATH=$PATH:/none overhead --rounds 1 --seconds 1 --cpid cpid-is-not-here
is $? 0 'a profiler that is not there is left out'
like "$(cat table)" '^  cpid-perf: .*cpid-is-not-here' 'with the reason'
is "$(value 'len([r for r in data["runs"] if r["contestant"] == "base"])')" 2 \
	'the work runs without it'

overhead --rounds 1 --seconds 1 --contestants base,cpid-perf
is $? 0 'a round runs'
is "$(value 'sorted(r["contestant"] for r in data["runs"] if r["round"] == 2)')" \
	"['base', 'base', 'cpid-perf']" 'and is added to the first, with two bases'
is "$(value 'all(r["rate"] > 0 and 0 <= r["stolen"] < 1 for r in data["runs"])')" True \
	'each says how fast work was, and what was stolen from it'
is "$(value '[r["samples"] > 0 and r["lost"] == 0 and r["cpu_s"] > r["start_s"] > 0
	for r in data["runs"] if r["contestant"] == "cpid-perf"]')" '[True]' \
	'and what the profiler took'
is "$(value '"cpid-perf" in data["refused"]')" False 'who runs is not left out any more'
like "$(cat table)" '^spin, 1000 Hz: 2 rounds of 1 s$' 'the table is of both rounds'
like "$(cat table)" '^cpid-perf  *-*[0-9.]* \[-*[0-9.]*, -*[0-9.]*\]  ' \
	'slowdowns have intervals'
cp table first
overhead --rounds 0
is "$(cat table)" "$(cat first)" 'without rounds it is made of the file alone'

overhead --rounds 1 --workloads spin,none
is "$?:$(grep -c 'workloads' errors)" 2:2 'a workload that is not known is refused'
sed -i 's/"kernel": "/&not-/' runs
overhead --rounds 1
is "$?:$(grep -c 'another machine' errors)" 1:1 'so is a file of another machine'
for text in '{' '[]' '{"format": 2}'; do
	echo "$text" >runs
	overhead --rounds 0
	echo "$?:$(grep -c 'Traceback' errors)"
done >refused
is "$(sort -u refused)" 1:0 'and a damaged one, and one in another format'

# Order statistics: the interval of ranks holds the median with 95 %, no narrower does.
try 'intervals are the narrowest that hold the median with 95 %' \
	env PYTHONPATH="$srcdir/t/bench" python3 -Bc '
import math
from overhead_table import interval

def held(low, high, nr):
    """How likely the median is between two of nr values, by rank from 0."""
    return sum(math.comb(nr, below) for below in range(low + 1, high + 1)) / 2 ** nr

for nr in range(6, 60):
    low, high = interval(reversed(range(nr)))
    assert high == nr - 1 - low and held(low, high, nr) >= 0.95, nr
    assert held(low + 1, high - 1, nr) < 0.95, nr
'
try 'and of fewer than 6 all that there is' \
	env PYTHONPATH="$srcdir/t/bench" python3 -Bc '
from overhead_table import interval
assert all(interval(range(nr)) == (0, nr - 1) for nr in range(1, 6))
'
