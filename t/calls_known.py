# SPDX-License-Identifier: GPL-2.0-or-later
"""calls_known.py PROGRAM NAMES: how many stacks of t/programs/calls are what they must be

Reads `cpi cat --stacks --format=csv`; NAMES is what nm says of the program. Of each part
"PART PERCENT SAMPLES": samples whose stack is, from spin() to where threads begin, the
part's own, of those that are in spin(). What is not the program's is "-", and as much of
it as there is counts as one.
"""
import bisect
import collections
import csv
import re
import sys

program, names = sys.argv[1], sys.argv[2]
begin = "main;-;_start"
known = {
    "recursion": "spin;" + 61 * "recurse;" + "recursion;" + begin,
    "sorting": "spin;compare;-;sorting;" + begin,
    "signalled": "spin;handler;-;signalled;" + begin,
    "throwing": "spin;guarded;throwing;" + begin,
    "thread": "spin;thread;-",
}
start, name = [], []
for line in sorted(open(names)):
    address, kind, symbol = line.split()
    if kind in "tT":
        start.append(int(address, 16))
        name.append(symbol.split(".")[0])


def name_of(frame):
    image, offset = frame.rsplit("+", 1)
    if image != program:
        return "-"
    return name[bisect.bisect(start, int(offset, 16)) - 1]


counts = collections.Counter()
for row in csv.DictReader(sys.stdin):
    stack = ";".join(name_of(f) if "+" in f else "?" for f in row["frames"].split(";"))
    stack = re.sub(r"(^|;)(-;)+(?=-)", r"\1", stack)
    counts[re.sub(r"^-;", "", stack), row["mark"]] += int(row["n"])
for part, want in known.items():
    good = counts[want, "ended"]
    every = sum(n for (stack, mark), n in counts.items()
                if stack.startswith("spin;") and part in stack.split(";"))
    print(part, 100 * good / every if every else 0, every)
