# SPDX-License-Identifier: GPL-2.0-or-later
"""values_look.py SOURCE VALUES EXPRESSION - the value of an expression about values

VALUES is JSON of cpi values, of t/programs/values.c. The expression may use:
r: the JSON; loops: its loops; call, store: the sites whose lines have these marks;
every: the values of all jumps, calls and loops.
"""
import json
import sys

source, file, expression = sys.argv[1:]
lines = [""] + open(source).read().split("\n")
r = json.load(open(file))
call = [t for t in r["targets"] if "CALL" in lines[t["line"]]]
store = [a for a in r["alignments"] if "STORE" in lines[a["line"]] and a["stores"]]
loops = r["loops"]
every = [v for s in r["targets"] + loops for v in s["values"]]


def share(site, key, value):
    return sum(v["share"] for v in site["values"] if v[key] == value)


def near(got, want):
    """1, or the value that is too far away."""
    return 1 if abs(got - want) < 0.12 else got


print(eval(expression))
