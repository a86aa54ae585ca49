#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports attribute time as the hardware measured it, in recordings whose every cycle is
# known.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make recordings'
command -v objdump >/dev/null || skip_all 'no objdump to find instructions with'
[ "$(uname -m)" = x86_64 ] || skip_all 'the code is looked for in x86-64 instructions'
plan 21

cp "$builddir/t/target" target || bail 'no target'
for f in target_hot target_cold; do
	objdump -d --disassemble=$f target | sed -nE 's/^ *([0-9a-f]+):\t.*/\1/p' >$f
done
PYTHONPATH=$srcdir/t PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

python3 "$srcdir/t/precise_make.py" "${SEED:-7}" "$tmp/target"
is $? 0 "recordings are made, seed ${SEED:-7}"
for name in runs branches latencies; do
	cpi import -o $name.db $name.data >out 2>&1
	is $? 0 "$name are imported"
done

# check NAME WITHIN SOURCE WANTED: t/precise_check.py
check()
{
	python3 "$srcdir/t/precise_check.py" "$@"
}
check runs 1e-4 branch_stacks runs.json
is $? 0 'cpi prof, list and calc have the cycles of branch stacks'
check branches 1e-4 branch_stacks runs.json
is $? 0 'cpi prof, list and calc have the cycles of branch stacks if the event does not measure time'
check latencies 0.04 retire_latencies latencies.json
is $? 0 'cpi prof, list and calc have the retire latencies, within 1/32'

# total OPTION...: the time of all rows.
total()
{
	cpi prof "$@" --format=json 2>/dev/null | python3 -c '
import json, sys
print(round(sum(r["time_ns"] for r in json.load(sys.stdin)["rows"])))' || echo "no profile: $*"
}
is "$(total --db runs.db --attribution=precise)" "$(total --db runs.db --attribution=raw)" \
	'cycles of branch stacks add up to the time of their samples'
is "$(total --db branches.db --attribution=precise)" "$(python3 -c '
import json
print(round(sum(json.load(open("runs.json")).values())))')" 'without an event of time, cycles of branch stacks are at 1 GHz'
total --db latencies.db --attribution=precise >got
is "$(python3 -c '
import json
want = sum(json.load(open("latencies.json")).values())
print(abs(int(open("got").read()) / want - 1) < 1 / 32)')" True 'each latency stands for its period'

# What reports say of the attribution.
cpi prof --db latencies.db --attribution=precise >out 2>&1
like "$(cat out)" '^Attribution: precise, by retire latencies of instructions:ppp' 'cpi prof names the attribution'
like "$(cat out)" '99\.[0-9]*% .* target_cold ' 'instructions with long latencies have the time'
cpi calc --db runs.db --attribution=precise target_hot >out 2>/dev/null
like "$(cat out)" '^Attribution: precise, by cycles of branch stacks, taken with cycles' 'cpi calc names the attribution'
cpi list --db runs.db --attribution=precise target_hot >out 2>/dev/null
like "$(cat out)" '^Attribution: precise, by cycles of branch stacks' 'cpi list names the attribution'
like "$(cpi prof --db latencies.db --attribution=raw)" ' 100\.00% .* target_hot ' '--attribution=raw goes by counts'
is "$(cpi prof --db latencies.db --format=csv)" \
	"$(cpi prof --db latencies.db --attribution=raw --format=csv)" 'without --attribution cpi prof goes by counts'
cpi calc --db runs.db --attribution=tip target_hot >out 2>&1
like "$? $(cat out)" '^1 .*runs.db: --attribution=tip: the selected epochs do not have it: they have precise (cycles of branch stacks, taken with cycles), raw$' \
	'the error of --attribution=tip lists what there is'
"$builddir/t/recordsdb" plain.db "$tmp/target" || bail 'no database'
cpi prof --db plain.db --attribution=precise >out 2>&1
like "$? $(cat out)" '^1 .*plain.db: --attribution=precise: the selected epochs do not have it: they have raw$' \
	'records of dispatched instructions are not used as time'
cpi prof --db runs.db --attribution=precise --over-time >out 2>&1
is $? 2 '--over-time refuses --attribution=precise'

# A recording of Skylake: 3,740 stacks of a program that is not available.
if command -v zstd >/dev/null && command -v perf >/dev/null; then
	zstd -qd "$srcdir/t/fixtures/perfdata/skylake-lbr.perf.data.zst" -o sky.data || bail 'no file'
	cpi import -o sky.db sky.data >out 2>&1
	perf script -i sky.data -F brstack 2>/dev/null >stacks
	cpi list --db sky.db --image '*propeller*' --attribution=precise --format=json \
		'[unknown procedure]' >sky.json
	perf script -i sky.data --show-mmap-events 2>/dev/null | grep -m 1 'r-xp.*propeller' >map
	try 'each branch of Skylake has the cycles of the runs that it ends' python3 - <<'END'
import json, re
start, size, offset = (int(v, 16) for v in
    re.search(r"\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0) ", open("map").read()).groups())
want = {}
for line in open("stacks"):
    s = [b.split("/") for b in line.split()]
    for new, old in zip(s, s[1:]):
        a, b, cycles = int(old[1], 16) - start, int(new[0], 16) - start, int(new[5])
        if cycles and 0 <= a < size and 0 <= b < size and 0 <= b - a <= 1 << 16:
            want[b + offset] = want.get(b + offset, 0) + cycles
total = sum(want.values())
got = {int(i["offset"], 16): i["percent"] for i in json.load(open("sky.json"))["instructions"]}
assert len(want) > 5 and want.keys() <= got.keys(), len(want)
for at, percent in got.items():
    assert abs(percent - 100 * want.get(at, 0) / total) < 1e-3, (hex(at), percent)
END
	like "$(cpi prof --db sky.db --attribution=precise)" ' 100\.00% .*propeller' 'all time of Skylake is in its program'
else
	skip 2 'no zstd, or no perf to compare with'
fi
