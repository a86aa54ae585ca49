# SPDX-License-Identifier: GPL-2.0-or-later
"""stack_names.py NAMES <STACKS - counts stacks of procedures

NAMES is what nm says, sorted. STACKS has lines of a count and the frames' addresses,
leaf first, separated by tabs; "-" is a frame of another image. Prints "total N", and
"NAME;NAME;... N" of each stack that has 5 % or more.
"""
import bisect
import collections
import sys

start, name = [], []
for line in open(sys.argv[1]):
    address, kind, symbol = line.split()
    if kind in "tT":
        start.append(int(address, 16))
        name.append(symbol)
counts = collections.Counter()
for line in sys.stdin:
    n, *frames = line.rstrip("\n").split("\t")
    names = [name[bisect.bisect(start, int(f, 16)) - 1] if f != "-" else "-"
             for f in frames]
    counts[";".join(names)] += int(n)
total = sum(counts.values())
print("total", total)
for stack, n in sorted(counts.items()):
    if 20 * n >= total:
        print(stack, n)
