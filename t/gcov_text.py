#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a profile for GCC (tools/export/export_gcov.c) says, as LLVM's text: gcov_text.py FILE

After it, for each function that is called and has lines: "entered NAME HEAD CALLS", how
often it was entered, and how often lines ran that call it.
"""
import collections
import struct
import sys

TAGS = (0x67636461, 0xAA000000, 0xAC000000, 0xAB000000)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0
        self.names, self.calls = [], collections.Counter()

    def word(self):
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def count(self):
        return self.word() | self.word() << 32

    def text(self):
        size = self.word()
        self.at += size
        return self.data[self.at - size:self.at - 1].decode()

    def tag(self, number):
        found = self.word()
        if found != TAGS[number]:
            sys.exit(f"at {self.at - 4}: {found:#x}, not {TAGS[number]:#x}")

    def function(self, depth, head):
        name, lines, inlined = self.names[self.word()], self.word(), self.word()
        print(" " * depth + head + name)
        for _ in range(lines):
            line, targets, count = self.word() >> 16, self.word(), self.count()
            print(" " * (depth + 1) + f"{line}: {count}", end="")
            for _ in range(targets):
                self.word()
                target, n = self.names[self.count()], self.count()
                self.calls[target] += max(count, n)
                print(f" {target}:{n}", end="")
            print()
        for _ in range(inlined):
            self.function(depth + 1, f"{self.word() >> 16}: ")
        return name

    def file(self):
        self.tag(0)
        self.at += 8
        self.tag(1)
        self.at += 4
        self.names = [self.text() for _ in range(self.word())]
        self.tag(2)
        self.at += 4
        heads = {}
        for _ in range(self.word()):
            head = self.count()
            heads[self.function(0, f"{head} ")] = head
        self.tag(3)
        for name in sorted(heads.keys() & self.calls.keys()):
            print(f"entered {name} {heads[name]} {self.calls[name]}")


def main():
    with open(sys.argv[1], "rb") as file:
        Reader(file.read()).file()


main()
