#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stats_check.py none|total EPOCH...: compares cpi stats with Python's statistics.

Takes the rows of cpi prof for each epoch, computes each number of cpi stats from them, and
prints "agrees", or the largest relative difference.
"""
import json
import statistics
import subprocess
import sys


def ask(*args):
    return json.loads(subprocess.run(["cpi", *args, "--format=json"], check=True,
                                     capture_output=True).stdout)


normalize, epochs = sys.argv[1], sys.argv[2:]
values, sums = {}, []
for e in epochs:
    prof = ask("prof", "--epoch", e)
    rows = prof["rows"]
    scale = {"none": 1e6, "total": sum(r["time_ns"] for r in rows) / 100}.get(normalize)
    for r in rows:
        values.setdefault(r["procedure"], {})[e] = r["time_ns"] / scale
report = ask("stats", "--normalize", normalize, *epochs)
total = sum(sum(v.values()) for v in values.values())
worst = abs(report["sum"] / total - 1)
for r in report["rows"]:
    v = [values[r["procedure"]].get(e, 0.0) for e in epochs]
    want = {"sum": sum(v), "mean": statistics.mean(v), "std_dev": statistics.stdev(v),
            "min": min(v), "max": max(v), "range": max(v) - min(v), "n": len(v),
            "range_percent": 100 * (max(v) - min(v)) / sum(v),
            "sum_percent": 100 * sum(v) / total}
    worst = max([worst] + [abs(r[k] - w) / max(abs(w), 1e-300) if w else abs(r[k])
                           for k, w in want.items()])
print("agrees" if worst < 1e-9 and len(report["rows"]) == len(values) else worst)
