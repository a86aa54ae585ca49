#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf record --call-graph dwarf finds the same call stacks in the same run, as often as
# CPI, and needs fifty times the bytes.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need perf python3
[ -x "$builddir/helpers/cpi-unwind" ] || skip_all 'libunwind is not built in'
command -v "${CXX:=g++}" >/dev/null || skip_all "$CXX is missing"
plan 5

${CXX} -O2 -fomit-frame-pointer -no-pie -o paths "$srcdir/t/programs/calls.cc" \
	-lpthread 2>build.log
ok $? 'the program compiles'
try 'cpi record and perf record run at the same time' cpi record -g dwarf --stacks-freq 397 -F 19 -o t.db -- \
	perf record -q -e cpu-clock -c 2503000 --call-graph dwarf -o perf.data -- \
	./paths 300000 paths
perf script -i perf.data -F comm,ip,dso --no-inline >perf.txt 2>perf.err
cpi cat --stacks --db t.db --comm paths --format=csv >stacks.csv
python3 "$srcdir/t/stacks_agree.py" paths perf.txt stacks.csv >agree.txt
grep '^#' agree.txt
like "$(cat agree.txt)" '^enough 1$' 'at least 50 stacks are compared'
like "$(cat agree.txt)" '^differ 0$' 'the 50 most frequent stacks are the same'

n=$(sql "SELECT sum(total) FROM stack JOIN context ON id = context WHERE name GLOB 'comm=paths' || char(10) || '*'")
bytes=$(sql "SELECT sum(length(tree)) FROM stack JOIN context ON id = context
	WHERE name GLOB 'comm=paths' || char(10) || '*'")
perf_n=$(grep -c '^[^[:space:]]' perf.txt)
bound "$((bytes * perf_n * 50))" '<=' "$(($(stat -c %s perf.data) * n))" \
	"a stack takes at most a fiftieth of perf's bytes"
