# SPDX-License-Identifier: GPL-2.0-or-later
"""precise_make.py SEED PROGRAM - recordings of t/target whose every cycle is known

Random runs of both procedures, two of them a stack: runs.data and branches.data, and
what each instruction took, runs.json. Latencies: latencies.data and latencies.json.
The files target_hot and target_cold have the addresses of their instructions.
"""
import json
import random
import sys

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
    # The cycles of a stack's oldest branch are of a run whose begin is unknown.
    stacks.append([(code[last], code[0], cycles), (code[-1], code[first], 9999)])
json.dump(want, open("runs.json", "w"))
samples = [{"event": 0, "pc": insns["target_hot"][0], "branches": s} for s in stacks]
for period, name in (10000, "runs.data"), (50, "branches.data"):
    kind = (0, 0) if name == "runs.data" else (4, 0xc4)
    open(name, "wb").write(recording(program, [Event(*kind, period, 0, BRANCH)], samples))

# Few instructions of cold take long. Samples of time beside them are all of hot.
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
