#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfdata_chains.py FILE DB - are the stacks in DB the chains that perf script has of FILE?

perf says of each frame in user mode which file it is in and where in that; of one that
was called from, where is returned to, which is the byte behind ours. What perf calls
kernel is compared as such: it has addresses there.
"""
import collections
import json
import re
import subprocess
import sys

FRAME = re.compile(r"^\s+([0-9a-f]+) (?:\S+ )*\((.*)\)$")


def wanted():
    text = subprocess.run(["perf", "script", "-i", sys.argv[1], "-F", "pid,ip,dso"],
                          capture_output=True, text=True, check=True).stdout
    for sample in re.split(r"\n\s*\n", text.strip("\n")):
        chain, mode = [], None
        for line in sample.splitlines():
            m = FRAME.match(line)
            if not m:
                continue
            at, name = int(m[1], 16), m[2]
            kernel = name == "[kernel.kallsyms]" or at >> 63
            now = "kernel" if kernel and mode != "user" else "user"
            at -= now == mode
            mode = now
            chain.append("K" if now == "kernel" else
                         "[unknown]" if name == "[unknown]" else f"{name}+{at:#x}")
        if chain:
            yield ";".join(chain)


def ours(frame):
    name = frame.split("+")[0]
    if frame.startswith(("[kernel", "[idle]")) or "+" in frame and name.startswith("[") and \
            name not in ("[vdso]", "[special]"):
        return "K"
    return frame if "+" in frame else "[unknown]"


want, got, marks = collections.Counter(wanted()), collections.Counter(), collections.Counter()
rows = json.loads(subprocess.check_output(
    ["cpi", "cat", "--stacks", "--format=json", "--db", sys.argv[2]]))["stacks"]
for row in rows:
    if row["frames"] and row["context"].startswith("comm="):
        got[";".join(ours(f) for f in row["frames"].split(";"))] += row["n"]
        marks[row["mark"]] += row["n"]
assert got == want, (list((got - want).items())[:3], list((want - got).items())[:3])
assert sum(want.values()) > 10, want
print(f"# {sum(got.values())} chains, {len(got)} different ones, {dict(marks)}")
