#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfdata_loop.py PROGRAM JUMPS LOOP >RECORDING: a recording of a loop, for perf's pipe form.

JUMPS has lines "FROM TO" of the program's jumps, in hexadecimal. The first backward jump
is the loop: it goes to the file LOOP, and each of 100 samples has a stack of 32 branches
through it, of 5 cycles each.
"""
import struct
import sys

source, target = next((int(a, 16), int(b, 16)) for a, b in
                      (line.split() for line in open(sys.argv[2])) if int(b, 16) < int(a, 16))
print(hex(source), hex(target), file=open(sys.argv[3], "w"))
BASE = 0x555500000000
p = lambda fmt, *v: struct.pack("<" + fmt, *v)
record = lambda kind, body, misc=2: p("IHH", kind, misc, 8 + len(body)) + body
name = sys.argv[1].encode() + b"\0"
name = name.ljust((len(name) + 7) // 8 * 8, b"\0")
IP, TID, TIME, BRANCH, SAMPLE_ID_ALL = 1, 2, 4, 1 << 11, 1 << 18
attr = p("IIQQQQQ", 0, 112, 0, 1000, IP | TID | TIME | BRANCH, 0, SAMPLE_ID_ALL)
attr += bytes(24) + p("Q", 1 << 3) + bytes(32)
when = lambda t: p("IIQ", 7, 7, t)
out = struct.pack("<Q", 0x32454c4946524550) + p("Q", 16) + record(64, attr + p("Q", 1), 0)
arch = b"x86_64\0\0"
out += record(80, p("QI", 6, len(arch)) + arch, 0)
out += record(3, p("II", 7, 7) + b"target\0\0" + when(1), 1 << 13)
out += record(10, p("IIQQQIIQQII", 7, 7, BASE, 1 << 20, 0, 0, 0, 0, 0, 5, 2) + name + when(2))
for i in range(100):
    stack = p("QQQ", BASE + source, BASE + target, 2 | 5 << 4) * 32
    out += record(9, p("QIIQQ", BASE + source, 7, 7, 10 + i, 32) + stack)
sys.stdout.buffer.write(out)
