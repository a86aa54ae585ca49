#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Branch stacks of a loop give exact counts of its blocks.
. "$srcdir/t/tap.sh"
need objdump python3
[ "$(uname -m)" = x86_64 ] || skip_all 'the loop is looked for in x86-64 code'
plan 13

cp "$builddir/t/target" target || bail 'no target'
# The backward jump of target_hot: from, to.
objdump -d --disassemble=target_hot target |
	sed -nE 's/^ *([0-9a-f]+):.*\sj[a-z]+ +([0-9a-f]+) .*/\1 \2/p' >jumps
python3 "$srcdir/t/perfdata_loop.py" "$tmp/target" jumps loop >recording || bail 'no recording'
cpi import -o loop.db recording >out 2>&1
like "$(cat out)" ' 100 samples, 0 of them lost by perf, 0 without' 'the recording is imported'
# shellcheck disable=SC2046
set -- $(cat loop)
cpi cat --db loop.db --edges --format=csv >edges
like "$(cat edges)" "^branch,cycles,$1,$2,3200,16000,3200,0," \
	'a branch has its number of executions and its cycles'
like "$(cat edges)" "^run,cycles,$2,$1,3100,15500,3100,0," \
	'the run between two branches has its count and its cycles'
is "$(cpi cat --db loop.db --edges --image=nosuch --format=csv | grep -c ^branch)" 0 \
	'--image chooses the edges of one image'
cpi cat --db loop.db --edges --comm=nosuch >out 2>&1
is $? 2 '--edges with --comm is a usage error'
cpi calc --db loop.db --format=json target_hot >calc.json 2>err
python3 - "$1" <<'END'
import json, sys
c = json.load(open("calc.json"))
assert c["frequency_source"] == "branch_stacks", c["frequency_source"]
end = int(sys.argv[1], 16)
loop, = [b for b in c["blocks"] if int(b["start"], 16) <= end < int(b["end"], 16)]
assert abs(loop["frequency"] - 100 * 1000 / 5) < 1, loop["frequency"]
assert loop["confidence"] == {"shape": "high", "scale": "high"}, loop["confidence"]
END
is $? 0 'the frequency of a block is its time divided by its cycles'
like "$(cpi calc --db loop.db target_hot 2>err)" 'Frequencies were counted, by branch stacks' \
	'cpi calc says that branch stacks were counted'
like "$(cpi cfg --db loop.db target_hot 2>err)" 'counted by branch stacks' \
	'cpi cfg says that branch stacks were counted'
is "$(cpi cat --check --db loop.db >out 2>&1; echo $?)" 0 'cpi cat --check finds no damage'

# Edges are exported and removed with their epoch.
cpi epoch export other.db --db loop.db >out 2>&1
cpi cat --db other.db --edges --format=csv >moved
cmp edges moved >&2
ok $? 'an exported epoch keeps its edges'
cpi epoch rm 1 --db loop.db >out 2>&1
is "$(python3 -c '
import sqlite3
h = sqlite3.connect("loop.db")
print(*(h.execute("SELECT count(*) FROM " + t).fetchone()[0]
        for t in ("epoch", "edge", "profile")))')" '0 0 0' \
	'cpi epoch rm removes the edges of the epoch'
is "$(cpi cat --check --db loop.db >out 2>&1; echo $?)" 0 \
	'cpi cat --check finds no damage after cpi epoch rm'

# Live.
if [ "$(cat /sys/bus/event_source/devices/cpu*/caps/branches 2>err | head -n 1)" -gt 0 ] 2>err; then
	cpi record -e cycles+branches -o live.db "$builddir/t/programs/burn_a" 1 >out 2>&1
	like "$(cpi cat --edges --db live.db --format=csv)" '^branch,cycles,' \
		'cpi record stores branches of this machine'
else
	cpi record -e cycles+branches -o live.db true >out 2>&1
	like "$(cat out)" 'no caps/branches below' \
		'the message says that the machine has no branch records'
fi
