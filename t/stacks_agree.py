# SPDX-License-Identifier: GPL-2.0-or-later
"""stacks_agree.py COMM PERF STACKS: whether the most frequent stacks of one are the other's

PERF is `perf script -F comm,ip,dso --no-inline`, STACKS is `cpi cat --stacks
--format=csv`, of one run. A stack is its callers in user mode, outermost last. Says how
many of the 50 that each has most often have another share with the other: by more than
5 sigma of a difference of two binomials.
"""
import collections
import csv
import re
import sys


def of_perf(comm, path):
    counts, frames = collections.Counter(), None
    for line in [*open(path), "end"]:
        frame = re.match(r"\s+([0-9a-f]+) \((.*)\)$", line)
        if frame and frames is not None and not frame[2].startswith("[kernel"):
            frames.append(f"{frame[2]}+0x{frame[1]}")
        if not frame and line.strip():
            if frames:
                counts[tuple(frames[1:])] += 1
            frames = [] if line.split()[0] == comm else None
    return counts


def of_cpi(path):
    counts = collections.Counter()
    for row in csv.DictReader(open(path)):
        frames = [f for f in row["frames"].split(";") if not f.startswith("[kernel]")]
        if frames:
            counts[tuple(frames[1:])] += int(row["n"])
    return counts


def nr_other(some, others):
    n, m, nr = sum(some.values()), sum(others.values()), 0
    for stack, x in some.most_common(50):
        y = others[stack]
        p = (x + y) / (n + m)
        sigma = (p * (1 - p) * (1 / n + 1 / m)) ** 0.5
        if abs(x / n - y / m) > 5 * sigma:
            print("#", x, y, *stack)
            nr += 1
    return nr


perf, ours = of_perf(sys.argv[1], sys.argv[2]), of_cpi(sys.argv[3])
print("# samples", sum(perf.values()), sum(ours.values()))
print("# stacks", len(perf), len(ours))
print("differ", nr_other(perf, ours) + nr_other(ours, perf))
print("enough", int(min(len(perf), len(ours)) >= 50))
