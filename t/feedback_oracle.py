#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a profile for compilers has to be, by another way: feedback_oracle.py
SYMBOLIZER FILE COUNTS

Reads COUNTS of t/feedback_dump, asks llvm-symbolizer for the stack of inlined calls of
each instruction, and writes LLVM's text as the rules of analysis/feedback/feedback.h have it.
"""
import json
import subprocess
import sys
from collections import defaultdict


def packed(d):
    if d & 1:
        return 0
    d >>= 1
    return ((d >> 1) & 0xFE0) | (d & 0x1F) if d & 0x20 else d & 0x1F


def behind(d):
    return d >> 1 if d & 1 else d >> (14 if d & 0x40 else 7)


class Function:
    def __init__(self):
        self.lines, self.inlined, self.head = {}, {}, 0
        self.targets = defaultdict(lambda: defaultdict(float))

    def finish(self, scale):
        """Counts, and 0 where what was inlined did not run."""
        self.count = {k: round_half_up(n * scale) for k, n in self.lines.items()}
        for child in self.inlined.values():
            child.finish(scale)
        alive = {k: c for k, c in self.inlined.items() if c.total}
        for line, disc, _ in self.inlined:
            if (line, disc) not in self.count and not any(
                k[:2] == (line, disc) for k in alive
            ):
                self.count[line, disc] = 0
        self.inlined = alive
        self.total = sum(self.count.values()) + sum(c.total for c in alive.values())

    def write(self, scale, depth=1):
        for key in sorted(self.count):
            found = {
                t: round_half_up(n * scale) for t, n in self.targets[key].items()
            }
            called = sorted((-n, t) for t, n in found.items() if n)
            print(
                " " * depth + show(key) + str(self.count[key]),
                *("%s:%d" % (t, -n) for n, t in called)
            )
        for line, disc, name in sorted(self.inlined):
            child = self.inlined[line, disc, name]
            print(" " * depth + show((line, disc)) + "%s:%d" % (name, child.total))
            child.write(scale, depth + 1)


def round_half_up(x):
    return int(x + 0.5)


def show(key):
    return "%d.%d: " % key if key[1] else "%d: " % key[0]


def symbolize(symbolizer, file, addresses):
    out = subprocess.run(
        [symbolizer, "--obj=" + file, "--output-style=JSON", "--inlines",
         "--functions=linkage", "--no-demangle"],
        input="".join("0x%x\n" % a for a in addresses),
        capture_output=True, text=True, check=True).stdout
    stacks = {}
    for line in out.splitlines():
        found = json.loads(line)
        for one in found if isinstance(found, list) else [found]:
            stacks[int(one["Address"], 16)] = [
                (f["FunctionName"], f["Line"], f["StartLine"],
                 f.get("Discriminator") or 0)
                for f in reversed(one.get("Symbol", []))]
    return stacks


def key_of(frame):
    return (frame[1] - frame[2]) & 0xFFFF, packed(frame[3])


def function_of(roots, stack):
    fn = roots[stack[0][0]]
    for caller, callee in zip(stack, stack[1:]):
        fn = fn.inlined.setdefault(key_of(caller) + (callee[0],), Function())
    return fn


def main():
    symbolizer, file, counts = sys.argv[1:]
    insns, heads, jumps, tests, scale = [], [], [], {}, 1
    for line in open(counts):
        kind, *rest = line.split()
        if kind == "scale":
            scale = float(rest[0])
        elif kind == "test":
            tests[int(rest[0], 16)] = (float(rest[1]), rest[2], rest[3])
        elif kind == "jump":
            jumps.append((int(rest[0], 16), int(rest[1], 16), float(rest[2]),
                          int(rest[3])))
        else:
            (insns if kind == "insn" else heads).append(
                (int(rest[0], 16), float(rest[1])))
    stacks = symbolize(symbolizer, file, sorted({a for a, _ in insns}))
    roots = defaultdict(Function)

    def is_known(address):
        stack = stacks.get(address)
        return stack and all(f[0] and f[1] and f[2] for f in stack)

    for address, n in insns:
        if not is_known(address):
            continue
        stack = stacks[address]
        fn = function_of(roots, stack)
        key = key_of(stack[-1])
        copies = packed(behind(stack[-1][3])) or 1
        fn.lines[key] = max(fn.lines.get(key, 0), n * copies)
    turned = defaultdict(lambda: defaultdict(float))
    for address, (n, procedure, loop) in tests.items():
        if is_known(address):
            stack = stacks[address]
            copies = packed(behind(stack[-1][3])) or 1
            place = function_of(roots, stack), key_of(stack[-1])
            most = turned[place + (procedure,)]
            most[loop] = max(most[loop], n * copies)
    for (fn, key, _), most in turned.items():
        fn.lines[key] = max(fn.lines[key], sum(most.values()))
    entries = {a for a, _ in heads}
    for source, target, n, enters in jumps:
        if enters and is_known(source) and target in entries and stacks[target]:
            fn = function_of(roots, stacks[source])
            fn.targets[key_of(stacks[source][-1])][stacks[target][0][0]] += n
    for address, n in heads:
        stack = stacks.get(address)
        if stack and stack[0][0] and stack[0][2]:
            roots[stack[0][0]].head = max(roots[stack[0][0]].head, n)
    for fn in roots.values():
        fn.finish(scale)
    for name in sorted(roots, key=lambda name: (-roots[name].total, name)):
        fn = roots[name]
        print("%s:%d:%d" % (name, fn.total, round_half_up(fn.head * scale)))
        fn.write(scale)


main()
