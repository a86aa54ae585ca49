# SPDX-License-Identifier: GPL-2.0-or-later
"""precise_check.py NAME WITHIN SOURCE WANTED - is time what hardware measured?

Checks the shares of cpi prof and cpi list and the samples of cpi calc, of the database
NAME.db, with what each instruction took in the JSON file WANTED. WITHIN is the relative
error that is allowed, SOURCE the source that reports must name.
"""
import json
import subprocess
import sys

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
    # Padding between blocks has no instructions in the graph.
    all, mine = sum(i.values()), sum(want.get(at, 0) for at in i)
    assert all > 0 and len(i) > len(insns[f]) / 2
    for at in i:
        near(100 * i[at] / all, 100 * want.get(at, 0) / mine, hex(at))
