# SPDX-License-Identifier: GPL-2.0-or-later
"""paths_look.py SOURCE PATHS EXPRESSION - the value of an expression about paths

PATHS is JSON of cpi paths, of t/programs/steps.c. The expression may use:
r: the JSON; paths: its paths, each with the "kind" of its anchor and "marks", the marks
of the lines that its blocks have; entry, loop: those from an anchor of that kind;
main: the callers, those with the largest share first.
"""
import json
import sys

source, file, expression = sys.argv[1:]
lines = [""] + open(source).read().split("\n")
r = json.load(open(file))
kind = {a["offset"]: a["kind"] for a in r["anchors"]}
paths = r["paths"]
for p in paths:
    p["marks"] = [m for b in p["blocks"] for m in ("EIGHT", "OTHER", "LONGER")
                  if m in lines[b["line"]]]
    p["kind"] = kind[p["anchor"]]
entry = [p for p in paths if p["kind"] == "entry"]
loop = [p for p in paths if p["kind"] == "loop"]


def share(of, test):
    return sum(p["share"] for p in of if test(p))


def seen(of, test):
    """The part of the windows, as they were drawn."""
    return sum(p["seen"] for p in of if test(p)) / sum(p["seen"] for p in of)


def share_of_caller(caller):
    return share(entry, lambda p: p["caller"] == caller)


def near(got, want, bound):
    """1, or the value that is too far away."""
    return 1 if abs(got - want) < bound else got


main = sorted({p["caller"] for p in entry if p["caller"]}, key=share_of_caller, reverse=True)
print(eval(expression))
