# SPDX-License-Identifier: GPL-2.0-or-later
"""How far two accounts of a program agree: of estimates, and of callgrind's counts."""

import bisect
import collections
import csv
import itertools
import math
import os
import struct

from collect import Failure

ERRORS = (0.05, 0.10, 0.15)
CONFIDENCES = ("low", "medium", "high")


class Counts:
    """What callgrind says of one image, by address."""

    def __init__(self):
        self.executed = collections.defaultdict(int)
        self.taken = collections.defaultdict(int)  # by conditional jump
        self.jumped = collections.defaultdict(int)  # by (jump, target)
        self.ascending = None

    def block(self, start, end):
        """The middle count of the block's instructions: rep ones count rounds."""
        if self.ascending is None:
            self.ascending = sorted(self.executed)
        first = bisect.bisect_left(self.ascending, start)
        last = bisect.bisect_left(self.ascending, end)
        found = sorted(self.executed[a] for a in self.ascending[first:last])
        return found[len(found) // 2] if found else 0


def read_callgrind(path):
    images = collections.defaultdict(Counts)
    image, jump, after_calls = images[""], None, False
    with open(path, errors="replace") as lines:
        for line in lines:
            if line[0] == "0":
                field = line.split()
                if after_calls:
                    after_calls = False
                elif jump:
                    target, count = jump
                    source = int(field[0], 16)
                    if target is None:
                        image.taken[source] += count
                    else:
                        image.jumped[source, target] += count
                    jump = None
                elif len(field) == 3:
                    image.executed[int(field[0], 16)] += int(field[2])
            elif line.startswith("calls="):
                after_calls = True
            elif line.startswith("jcnd="):
                jump = None, int(line[5:].split("/")[0])
            elif line.startswith("jump="):
                field = line[5:].split()
                jump = int(field[1], 16), int(field[0])
            elif line.startswith("ob="):
                image = images[os.path.realpath(line[3:].strip())]
    return {name: counts for name, counts in images.items()
            if name.startswith("/") and "valgrind" not in name}


def read_samples(path):
    """By image, by offset: (samples, taken, not taken)."""
    images = collections.defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "file" and row["image"].startswith("/"):
                images[os.path.realpath(row["image"])][int(row["offset"], 16)] = (
                    int(row["n"]), int(row["taken"]), int(row["not_taken"]))
    return images


def segments(path):
    """(address, offset, size) of what an ELF file has loaded."""
    with open(path, "rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            raise Failure(f"{path}: not a 64-bit ELF file")
        start, = struct.unpack_from("<Q", header, 32)
        size, number = struct.unpack_from("<HH", header, 54)
        file.seek(start)
        table = file.read(size * number)
    found = []
    for i in range(number):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", table, i * size)
        if kind == 1:
            found.append((address, offset, length))
    return found


def offset_of(loaded, address):
    for start, offset, length in loaded:
        if start <= address < start + length:
            return address - start + offset
    return None


class Block:
    def __init__(self, field):
        self.samples, self.frequency = float(field[2]), float(field[3])
        self.confidence = int(field[5])
        self.start, self.end = int(field[0], 16), int(field[1], 16)
        self.true = 0


class Edge:
    def __init__(self, field):
        self.start, self.jump, self.target = (int(x, 16) for x in field[:3])
        self.kind, self.frequency = int(field[3]), float(field[4])
        self.confidence = int(field[6])
        self.true = 0


FALL, TAKEN, INDIRECT = 0, 1, 2


class Procedure:
    def __init__(self):
        self.blocks, self.edges = [], []
        self.factor = 1  # that most samples' blocks have

    def add_truth(self, counts):
        ways = collections.Counter(e.start for e in self.edges)
        for b in self.blocks:
            b.true = counts.block(b.start, b.end)
        for e in self.edges:
            runs, taken = counts.executed.get(e.jump, 0), counts.taken.get(e.jump, 0)
            if e.kind == INDIRECT:
                e.true = counts.jumped.get((e.jump, e.target), 0)
            elif ways[e.start] < 2:
                e.true = runs
            else:
                e.true = max(0, runs - taken) if e.kind == FALL else taken
        self.factor = weighted_median(
            [(b.frequency / b.true, b.samples) for b in self.blocks if b.true and b.samples])


def weighted_median(pairs):
    half, below = sum(weight for _, weight in pairs) / 2, 0
    for value, weight in sorted(pairs):
        below += weight
        if below >= half and value:
            return value
    return 1


def read_procedures(text, counts):
    """Of what freq_dump writes, with what they did."""
    found, stub = [], False
    for line in text.splitlines():
        kind, *field = line.split(" ")
        if kind == "procedure":
            stub = field[0].endswith("@plt")
        if stub:
            continue
        if kind == "procedure":
            found.append(Procedure())
        elif kind == "block":
            found[-1].blocks.append(Block(field))
        else:
            found[-1].edges.append(Edge(field))
    for p in found:
        p.add_truth(counts)
    return found


def overlap(items):
    estimated = sum(i.frequency for i in items) or 1
    true = sum(i.true for i in items) or 1
    return 100 * sum(min(i.frequency / estimated, i.true / true) for i in items)


def error(item, factor):
    """Relative; a frequency of what never ran is infinitely wrong."""
    if not item.true:
        return math.inf if item.frequency else 0
    return item.frequency / factor / item.true - 1


def share_within(pairs, limit):
    total = sum(weight for _, weight in pairs) or 1
    return 100 * sum(weight for e, weight in pairs if abs(e) <= limit) / total


def best_factor(items):
    """The one factor that puts the most samples within 10 %."""
    known = sorted((i.frequency / i.true, i.samples) for i in items if i.true and i.frequency)
    ratios = [ratio for ratio, _ in known]
    below = [0, *itertools.accumulate(weight for _, weight in known)]

    def within(factor):
        return (below[bisect.bisect_right(ratios, 1.1 * factor)]
                - below[bisect.bisect_left(ratios, 0.9 * factor)])
    tried = sorted({round(math.log(ratio), 2) for ratio in ratios}) or [0]
    return max((math.exp(t) for t in tried), key=within)


STEPS = range(-10, 11)


def histogram(items):
    """As in Figures 8 and 9: percent by error, in steps of 5 %, beyond 45 % at the ends;
    of each step for every confidence."""
    total = sum(weight for _, weight, _ in items) or 1
    bins = collections.Counter()
    for e, weight, confidence in items:
        step = 10 if e > 0.45 else -10 if e < -0.45 else math.floor(e / 0.05 + 0.5)
        bins[step, confidence] += 100 * weight / total
    return [bins[step, level] for step in STEPS for level in range(len(CONFIDENCES))]


def evaluate(procedures):
    blocks = [b for p in procedures for b in p.blocks]
    edges = [e for p in procedures for e in p.edges]
    local = [(error(b, p.factor), b.samples, b.confidence)
             for p in procedures for b in p.blocks if b.samples]
    factor = best_factor(blocks)
    plain = [(e, w) for e, w, _ in local]
    everywhere = [(error(b, factor), b.samples) for b in blocks if b.samples]
    result = {"block": overlap(blocks), "edge": overlap(edges)}
    for limit in ERRORS:
        result[f"local {limit:.0%}"] = share_within(plain, limit)
        result[f"global {limit:.0%}"] = share_within(everywhere, limit)
    total = sum(w for _, w in plain) or 1
    for level, name in enumerate(CONFIDENCES):
        part = [(e, w) for e, w, c in local if c == level]
        result[name] = 100 * sum(w for _, w in part) / total
        result[name + " right"] = share_within(part, ERRORS[-1]) if part else None
    # An edge has no samples: it counts as often as it ran.
    result["figure 8"] = histogram(local)
    result["figure 9"] = histogram([(error(e, p.factor), e.true, e.confidence)
                                    for p in procedures for e in p.edges if e.true])
    return result


def mean(results):
    def one(key):
        values = [r[key] for r in results if r[key] is not None]
        if values and isinstance(values[0], list):
            return [sum(column) / len(values) for column in zip(*values)]
        return sum(values) / len(values) if values else None
    return {key: one(key) for key in results[0]}
