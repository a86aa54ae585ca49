#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Time that hardware measured, of recordings whose every cycle is known.
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

# Random runs of both procedures, two of them a stack; and latencies. want.json has what
# each instruction took.
cat >make.py <<'END'
import json, random, sys
from perfdata_target import BRANCH, WEIGHT_STRUCT, Event, recording
rng = random.Random(int(sys.argv[1]))
insns = {f: [int(a, 16) for a in open(f)] for f in ("target_hot", "target_cold")}
program = sys.argv[2]
stacks, want, n = [], {}, 0
for i in range(200):
    name = rng.choice(list(insns))
    code = insns[name]
    first = rng.randrange(len(code))
    last = rng.randrange(first, len(code))
    cycles = rng.randrange(1, 400)
    for k in range(first, last + 1):
        want[code[k]] = want.get(code[k], 0) + cycles / (last - first + 1)
    # The stack's oldest branch has cycles of a run whose begin nobody knows.
    stacks.append([(code[last], code[0], cycles), (code[-1], code[first], 9999)])
json.dump(want, open("runs.json", "w"))
samples = [{"event": 0, "pc": insns["target_hot"][0], "branches": s} for s in stacks]
for period, name in (10000, "runs.data"), (50, "branches.data"):
    kind = (0, 0) if name == "runs.data" else (4, 0xc4)
    open(name, "wb").write(recording(program, [Event(*kind, period, 0, BRANCH)], samples))

# Few of cold take long; samples of time beside them say otherwise.
want, samples = {}, []
for i in range(600):
    name = "target_cold" if i % 6 == 0 else "target_hot"
    pc = rng.choice(insns[name])
    latency = rng.randrange(0, 31) if name == "target_hot" else rng.randrange(200, 60000)
    samples.append({"event": 1, "pc": pc, "weights": (0, 0, latency)})
    samples.append({"event": 0, "pc": insns["target_hot"][0]})
    want[pc] = want.get(pc, 0) + latency * 1000
json.dump(want, open("latencies.json", "w"))
open("latencies.data", "wb").write(recording(program, [
    Event(0, 0, 10000, 0, 0), Event(0, 1, 1000, 3, WEIGHT_STRUCT)], samples))
END
python3 make.py "${SEED:-7}" "$tmp/target"
is $? 0 "recordings of seed ${SEED:-7}"
for name in runs branches latencies; do
	cpi import -o $name.db $name.data >out 2>&1
	is $? 0 "$name are imported"
done

# check NAME WITHIN: prof's and list's shares, calc's samples, and what they say of it.
cat >check.py <<'END'
import json, subprocess, sys
name, within, source = sys.argv[1], float(sys.argv[2]), sys.argv[3]
want = {int(k): v for k, v in json.load(open(sys.argv[4])).items()}
def cpi(*args):
    return json.loads(subprocess.check_output(("cpi", *args, "--db", name + ".db",
        "--attribution=precise", "--format=json"), stderr=subprocess.DEVNULL))
def near(a, b, what):
    assert abs(a - b) <= within * max(abs(a), abs(b)) + 0.01, (what, a, b)
insns = {f: [int(a, 16) for a in open(f)] for f in ("target_hot", "target_cold")}
total = sum(want.values())
r = cpi("prof")
assert (r["attribution"], r["attribution_source"]) == ("precise", source), r["attribution"]
for row in r["rows"]:
    if row["procedure"] in insns:
        near(row["percent"], 100 * sum(want.get(a, 0) for a in insns[row["procedure"]]) / total,
             row["procedure"])
for f in insns:
    mine = sum(want.get(a, 0) for a in insns[f])
    r = cpi("list", f)
    assert r["attribution_source"] == source
    for i in r["instructions"]:
        near(i["percent"], 100 * want.get(int(i["offset"], 16), 0) / mine, i)
    r = cpi("calc", f)
    assert r["attribution_source"] == source
    i = {int(i["offset"], 16): i["blamed_samples"] for b in r["blocks"] for i in b["instructions"]}
    # What stands between blocks, to align them, is no instruction of the graph.
    all, mine = sum(i.values()), sum(want.get(at, 0) for at in i)
    assert all > 0 and len(i) > len(insns[f]) / 2
    for at in i:
        near(100 * i[at] / all, 100 * want.get(at, 0) / mine, hex(at))
END
python3 check.py runs 1e-4 branch_stacks runs.json
is $? 0 'prof, list and calc: the cycles of branch stacks'
python3 check.py branches 1e-4 branch_stacks runs.json
is $? 0 'also where the event measures no time'
python3 check.py latencies 0.04 retire_latencies latencies.json
is $? 0 'latencies of retiring: each within 1/32'

# How much time it is.
total()
{
	cpi prof "$@" --format=json 2>/dev/null | python3 -c '
import json, sys
print(round(sum(r["time_ns"] for r in json.load(sys.stdin)["rows"])))' || echo "no profile: $*"
}
is "$(total --db runs.db --attribution=precise)" "$(total --db runs.db --attribution=raw)" \
	'cycles of stacks are the time of their samples'
is "$(total --db branches.db --attribution=precise)" "$(python3 -c '
import json
print(round(sum(json.load(open("runs.json")).values())))')" 'or what was seen, at 1 GHz'
total --db latencies.db --attribution=precise >got
is "$(python3 -c '
import json
want = sum(json.load(open("latencies.json")).values())
print(abs(int(open("got").read()) / want - 1) < 1 / 32)')" True 'each latency stands for its period'

# The choice, and what is said of it.
cpi prof --db latencies.db --attribution=precise >out 2>&1
like "$(cat out)" '^Attribution: precise, by retire latencies of instructions:ppp' 'prof says by what'
like "$(cat out)" '99\.[0-9]*% .* target_cold ' 'the few that wait have the time'
cpi calc --db runs.db --attribution=precise target_hot >out 2>/dev/null
like "$(cat out)" '^Attribution: precise, by cycles of branch stacks, taken with cycles' 'so does calc'
cpi list --db runs.db --attribution=precise target_hot >out 2>/dev/null
like "$(cat out)" '^Attribution: precise, by cycles of branch stacks' 'and list'
like "$(cpi prof --db latencies.db --attribution=raw)" ' 100\.00% .* target_hot ' 'raw goes by counts'
is "$(cpi prof --db latencies.db --format=csv)" \
	"$(cpi prof --db latencies.db --attribution=raw --format=csv)" 'auto is what it was'
cpi calc --db runs.db --attribution=tip target_hot >out 2>&1
like "$? $(cat out)" '^1 .*runs.db: --attribution=tip: the selected epochs have nothing of that: there is precise (cycles of branch stacks, taken with cycles), raw$' \
	'what is not there is told'
"$builddir/t/recordsdb" plain.db "$tmp/target" || bail 'no database'
cpi prof --db plain.db --attribution=precise >out 2>&1
like "$? $(cat out)" '^1 .*plain.db: --attribution=precise: the selected epochs have nothing of that: there is raw$' \
	'records of dispatched instructions are no time'
cpi prof --db runs.db --attribution=precise --over-time >out 2>&1
is $? 2 'time of epochs by themselves goes by samples'

# A recording of Skylake: 3,740 stacks, whose program is not here.
if command -v zstd >/dev/null && command -v perf >/dev/null; then
	zstd -qd "$srcdir/t/fixtures/perfdata/skylake-lbr.perf.data.zst" -o sky.data || bail 'no file'
	cpi import -o sky.db sky.data >out 2>&1
	perf script -i sky.data -F brstack 2>/dev/null >stacks
	cpi list --db sky.db --image '*propeller*' --attribution=precise --format=json \
		'[unknown procedure]' >sky.json
	perf script -i sky.data --show-mmap-events 2>/dev/null | grep -m 1 'r-xp.*propeller' >map
	try 'the cycles that each branch of Skylake ends a run with' python3 - <<'END'
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
	like "$(cpi prof --db sky.db --attribution=precise)" ' 100\.00% .*propeller' 'all of it is its program'
else
	skip 2 'no zstd, or no perf to compare with'
fi
