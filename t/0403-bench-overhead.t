#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The comparison of profilers runs, keeps its measurements, and prints its tables. What it
# measures is not judged.
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

# value EXPRESSION: its value, where data has the file of runs.
value() {
	python3 -c "import json; data = json.load(open('runs')); print($1)"
}

PATH=$PATH:/none overhead --rounds 1 --seconds 1 --cpid cpid-is-not-here
is $? 0 'a profiler that is not installed is left out'
like "$(cat table)" '^  cpid-perf: .*cpid-is-not-here' 'the table has the reason for leaving it out'
is "$(value 'len([r for r in data["runs"] if r["contestant"] == "base"])')" 2 \
	'the workload runs without the missing profiler'

overhead --rounds 1 --seconds 1 --contestants base,cpid-perf
is $? 0 'a round with cpid runs'
is "$(value 'sorted(r["contestant"] for r in data["runs"] if r["round"] == 2)')" \
	"['base', 'base', 'cpid-perf']" 'the second round is added to the first, with two runs of the base'
is "$(value 'all(r["rate"] > 0 and 0 <= r["stolen"] < 1 for r in data["runs"])')" True \
	'each run has the rate of the work and the stolen time'
is "$(value '[r["samples"] > 0 and r["lost"] == 0 and r["cpu_s"] > r["start_s"] > 0
	for r in data["runs"] if r["contestant"] == "cpid-perf"]')" '[True]' \
	'a run with cpid has its samples and its CPU time'
is "$(value '"cpid-perf" in data["refused"]')" False 'a profiler that runs is no longer listed as left out'
like "$(cat table)" '^spin, 1000 Hz: 2 rounds of 1 s$' 'the table is about both rounds'
like "$(cat table)" '^cpid-perf  *-*[0-9.]* \[-*[0-9.]*, -*[0-9.]*\]  ' \
	'slowdowns have confidence intervals'
cp table first
overhead --rounds 0
is "$(cat table)" "$(cat first)" 'without rounds the table is made from the file'

overhead --rounds 1 --workloads spin,none
is "$?:$(grep -c 'workloads' errors)" 2:2 'an unknown workload is refused'
sed -i 's/"kernel": "/&not-/' runs
overhead --rounds 1
is "$?:$(grep -c 'another machine' errors)" 1:1 'a file of another machine is refused'
for text in '{' '[]' '{"format": 2}'; do
	echo "$text" >runs
	overhead --rounds 0
	echo "$?:$(grep -c 'Traceback' errors)"
done >refused
is "$(sort -u refused)" 1:0 'a damaged file and one in another format are refused'

# Order statistics: the interval of ranks has the median with 95 %; a narrower one has not.
try 'intervals are the narrowest that have the median with 95 %' \
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
try 'the interval of fewer than 6 values is all of them' \
	env PYTHONPATH="$srcdir/t/bench" python3 -Bc '
from overhead_table import interval
assert all(interval(range(nr)) == (0, nr - 1) for nr in range(1, 6))
'
