#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A loop that branch stacks went through: its blocks are counted, not estimated.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make recordings'
command -v objdump >/dev/null || skip_all 'no objdump to find a loop with'
[ "$(uname -m)" = x86_64 ] || skip_all 'the loop is looked for in x86-64 code'
plan 13

cp "$builddir/t/target" target || bail 'no target'
# The backward jump of target_hot: from, to.
objdump -d --disassemble=target_hot target |
	sed -nE 's/^ *([0-9a-f]+):.*\sj[a-z]+ +([0-9a-f]+) .*/\1 \2/p' >jumps
python3 - "$tmp/target" >recording <<'END' || bail 'no recording'
import struct, sys
source, target = next((int(a, 16), int(b, 16)) for a, b in
                      (line.split() for line in open("jumps")) if int(b, 16) < int(a, 16))
print(hex(source), hex(target), file=open("loop", "w"))
BASE = 0x555500000000
p = lambda fmt, *v: struct.pack("<" + fmt, *v)
record = lambda kind, body, misc=2: p("IHH", kind, misc, 8 + len(body)) + body
name = sys.argv[1].encode() + b"\0"
name = name.ljust((len(name) + 7) // 8 * 8, b"\0")
IP, TID, TIME, BRANCH, SAMPLE_ID_ALL = 1, 2, 4, 1 << 11, 1 << 18
attr = p("IIQQQQQ", 0, 112, 0, 1000, IP | TID | TIME | BRANCH, 0, SAMPLE_ID_ALL)
attr += bytes(24) + p("Q", 1 << 3) + bytes(32)
when = lambda t: p("IIQ", 7, 7, t)
out = struct.pack("<Q", 0x32454c4946524550) + p("Q", 16) + record(64, attr + p("Q", 1), 0)
arch = b"x86_64\0\0"
out += record(80, p("QI", 6, len(arch)) + arch, 0)
out += record(3, p("II", 7, 7) + b"target\0\0" + when(1), 1 << 13)
out += record(10, p("IIQQQIIQQII", 7, 7, BASE, 1 << 20, 0, 0, 0, 0, 0, 5, 2) + name + when(2))
for i in range(100):
    stack = p("QQQ", BASE + source, BASE + target, 2 | 5 << 4) * 32
    out += record(9, p("QIIQQ", BASE + source, 7, 7, 10 + i, 32) + stack)
sys.stdout.buffer.write(out)
END
cpi import -o loop.db recording >out 2>&1
like "$(cat out)" ' 100 samples, 0 of them lost by perf, 0 without' 'the recording is imported'
# shellcheck disable=SC2046
set -- $(cat loop)
cpi cat --db loop.db --edges --format=csv >edges
like "$(cat edges)" "^branch,cycles,$1,$2,3200,16000,3200,0," 'the branch was taken so often'
like "$(cat edges)" "^run,cycles,$2,$1,3100,15500,3100,0," 'and its loop ran between'
is "$(cpi cat --db loop.db --edges --image=nosuch --format=csv | grep -c ^branch)" 0 \
	'of an image alone'
cpi cat --db loop.db --edges --comm=nosuch >out 2>&1
is $? 2 'but of no command, which is said'
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
is $? 0 'a block ran as often as 5 cycles each take the time that it took'
like "$(cpi calc --db loop.db target_hot 2>err)" 'Frequencies were counted, by branch stacks' \
	'calc says so'
like "$(cpi cfg --db loop.db target_hot 2>err)" 'counted by branch stacks' 'cfg says so'
is "$(cpi cat --check --db loop.db >out 2>&1; echo $?)" 0 'the database is whole'

# Edges go where their epoch goes.
cpi epoch export other.db --db loop.db >out 2>&1
cpi cat --db other.db --edges --format=csv >moved
cmp edges moved >&2
ok $? 'an export has them'
cpi epoch rm 1 --db loop.db >out 2>&1
is "$(python3 -c '
import sqlite3
h = sqlite3.connect("loop.db")
print(*(h.execute("SELECT count(*) FROM " + t).fetchone()[0]
        for t in ("epoch", "edge", "profile")))')" '0 0 0' 'with an epoch its edges are removed'
is "$(cpi cat --check --db loop.db >out 2>&1; echo $?)" 0 'and nothing else is missed'

# Live.
if [ "$(cat /sys/bus/event_source/devices/cpu*/caps/branches 2>err | head -n 1)" -gt 0 ] 2>err; then
	cpi record -e cycles+branches -o live.db "$builddir/t/programs/burn_a" 1 >out 2>&1
	like "$(cpi cat --edges --db live.db --format=csv)" '^branch,cycles,' 'branches are sampled here'
else
	cpi record -e cycles+branches -o live.db true >out 2>&1
	like "$(cat out)" 'no caps/branches below' 'without branch records it is said what they take'
fi
