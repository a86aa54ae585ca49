#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfdata_oracle.py FILE DB - is the epoch in DB what perf script says of FILE?

Mappings, tasks and samples come from perf's text alone; what an address belongs to is
worked out here once more, in the simplest way.
"""
import collections
import json
import re
import subprocess
import sys

TASK = re.compile(r"PERF_RECORD_(FORK|EXIT)\((\d+):\d+\):\((\d+):\d+\)")
EXEC = re.compile(r"PERF_RECORD_COMM exec: .*:(\d+)/(\d+)$")
MMAP = re.compile(r"PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\)"
                  r" @ (0x[0-9a-f]+|0)[^\]]*\]: (\S+) (.*)$")
SAMPLE = re.compile(r"^\s*(-?\d+)/-?\d+\s+\d+\.\d+:\s+(\d+)\s+(\S.*?):\s+([0-9a-f]+)\s*$")


def perf(*args):
    return subprocess.run(["perf", "script", "-i", sys.argv[1], *args],
                          capture_output=True, text=True, check=True).stdout


def place(maps, pc):
    for start, end, offset, name in reversed(maps):
        if start <= pc < end:
            return name, pc - start + offset
    return None


def is_file(name):
    return not name.startswith(("[", "//anon"))


def read():
    """Counts by image and offset, and by event Σ period and samples."""
    maps = collections.defaultdict(list)
    counts, events, kernel = collections.Counter(), {}, 0
    for line in perf("--show-mmap-events", "--show-task-events", "--ns", "-F",
                     "pid,tid,time,period,event,ip").splitlines():
        if m := MMAP.search(line):
            pid, start, size, offset = int(m[1]), *(int(m[i], 16) for i in (2, 3, 4))
            if "x" in m[5] and pid >= 0:
                maps[pid].append((start, start + size, offset, m[6]))
        elif m := TASK.search(line):
            if m[1] == "FORK" and m[2] != m[3]:
                maps[int(m[2])] = list(maps[int(m[3])])
        elif m := EXEC.search(line):
            maps[int(m[1])] = []
        elif m := SAMPLE.match(line):
            pid, period, pc = int(m[1]), int(m[2]), int(m[4], 16)
            n, total = events.get(m[3], (0, 0))
            events[m[3]] = n + 1, total + period
            if pc >> 63:
                kernel += 1
                continue
            hit = place(maps[pid], pc)
            if hit and is_file(hit[0]):
                counts[hit] += 1
    return counts, events, kernel


def cpi(*args):
    return json.loads(subprocess.check_output(
        ["cpi", *args, "--format=json", "--db", sys.argv[2]], stderr=subprocess.DEVNULL))


counts, events, kernel = read()
got, in_kernel, times = collections.Counter(), 0, collections.Counter()
for row in cpi("cat")["counts"]:
    if row["kind"] == "file":
        got[row["image"], int(row["offset"], 16)] += row["n"]
    elif row["kind"] in ("kernel", "module", "bpf"):
        in_kernel += row["n"]
assert got == counts, (got - counts, counts - got)

profile = cpi("prof")
received = collections.Counter()
for s in profile["streams"]:
    times[s["event"]] += s["mean_period"] * s["total"]
    received[s["event"]] += s["total"]
unknown = profile["unknown"]
assert in_kernel + unknown.get("kernel_unmapped", 0) == kernel, (in_kernel, kernel)
assert sum(received.values()) == sum(n for n, _ in events.values())
for event, (n, total) in events.items():
    if event.startswith("unknown attr type"):  # which has a name for us
        event, = times
    assert received[event] == n and times[event] == total, (event, n, total, times)


def stacks():
    """Each stack of branches, the oldest first, with its process's mappings then."""
    maps = collections.defaultdict(list)
    for line in perf("--show-mmap-events", "--show-task-events", "--ns", "-F",
                     "pid,tid,time,brstack").splitlines():
        if m := MMAP.search(line):
            if "x" in m[5] and int(m[1]) >= 0:
                start, size, offset = (int(m[i], 16) for i in (2, 3, 4))
                maps[int(m[1])].append((start, start + size, offset, m[6]))
        elif m := TASK.search(line):
            if m[1] == "FORK" and m[2] != m[3]:
                maps[int(m[2])] = list(maps[int(m[3])])
        elif m := EXEC.search(line):
            maps[int(m[1])] = []
        elif m := re.match(r"^\s*(-?\d+)/-?\d+\s+\d+\.\d+:((?:\s+0x[0-9a-f]+/\S+)+)", line):
            entries = [e.split("/") for e in m[2].split()]
            yield maps[int(m[1])], [
                (int(e[0], 16), int(e[1], 16), e[2] == "M", int(e[5]))
                for e in reversed(entries)]


def user(maps, pc):
    hit = None if pc >> 63 else place(maps, pc)
    return hit if hit and is_file(hit[0]) else None


wanted, all_branches = collections.defaultdict(lambda: [0, 0, 0, 0]), 0
for maps, stack in stacks():
    before = None
    for source, target, missed, cycles in stack:
        all_branches += 1
        source, target = user(maps, source), user(maps, target)
        found = [("branch", source, target, missed)] if source and target else []
        if (before and source and before[0] == source[0] and
                0 <= source[1] - before[1] <= 65536):
            found.append(("run", before, source, False))
        for *key, miss in found:
            for i, n in enumerate((1, cycles, cycles > 0, miss)):
                wanted[tuple(key)][i] += n
        before = target
edges, seen_branches = {}, 0
for e in cpi("cat", "--edges")["edges"]:
    key = (e["kind"], (e["image"], int(e["from"], 16)), (e["target"], int(e["to"], 16)))
    seen_branches += e["n"] * (e["kind"] == "branch")
    if is_file(e["image"]) and is_file(e["target"]):
        edges[key] = [e["n"], e["cycles"], e["timed"], e["mispredicted"]]
assert seen_branches == all_branches, (seen_branches, all_branches)
assert edges == dict(wanted), [k for k in edges if edges[k] != wanted.get(k)][:5]
print(f"# {all_branches} branches, {len(edges)} different edges and runs")
print(f"# {sum(got.values())} samples of {len(got)} places in files, {kernel} kernel")
