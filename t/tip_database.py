# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a database of TIP records with the Oracle of their trace.

tip_database.py exact|within DB TRACE PROCEDURE|--all

exact: each PC's share is the Oracle's. within: the records are random samples, one of
each interval. Bernstein's bound of a sum of independent shares is exceeded by chance once
in a million runs, for all instructions together; the last interval may be cut.
"""
import json
import math
import subprocess
import sys

how, db, trace, which = sys.argv[1:]


def run(*args):
    return subprocess.check_output(["cpi", *args], text=True)


def reports():
    text = run("calc", "--attribution=tip", "--db", db, "--format=json", which)
    return [json.loads(t) for t in (text.splitlines() if which == "--all" else [text])]


oracle = {int(r["pc"], 16): r["oracle"]
          for r in json.loads(run("tip", "--format=json", trace))["profile"]}
got, total = {}, 0
for r in reports():
    assert r["attribution"] == "tip", r["attribution"]
    assert sum(r["summary"]["cycle_stack"].values()) > 0
    for i in r["blocks"][0]["instructions"]:
        assert abs(sum(i["cycle_stack"].values()) - i["blamed_samples"]) < 1e-4
        got[int(i["offset"], 16)] = i["blamed_samples"]
        total += i["samples"]["cycles"]
assert abs(sum(got.values()) - total) < 1e-3

if how == "exact":
    assert {p for p in oracle if oracle[p]} == {p for p in got if got[p]}
    assert all(abs(got.get(p, 0) / total - oracle[p]) < 1e-6 for p in oracle)
else:
    log = math.log(2 * len(oracle) / 1e-6)
    worst = 0
    for p, want in oracle.items():
        bound = math.sqrt(2 * want * (1 - want) * log / total) + (log / 3 + 2) / total
        worst = max(worst, abs(got.get(p, 0) / total - want) / bound)
    print("#", total, "samples; at most", round(worst, 3), "of the bound")
    assert worst < 1
