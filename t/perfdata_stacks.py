#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfdata_stacks.py [lost | leader | long] >RECORDING: a recording in perf's pipe form.

It has every kind of chain. With "lost", all chains were lost, and the samples are those of
an event without chains. With "leader", the first thread of the process ends 20 seconds
before a sample of another thread. With "long", there are 20 seconds between two samples.

Process 7 runs /bin/program at 0x400000. Its chains have user, kernel, guest and deferred
frames, a limit, branch records that extend a chain, and copied stacks.
"""
import struct
import sys

p = lambda fmt, *v: struct.pack("<" + fmt, *v)
record = lambda kind, body, misc=2: p("IHH", kind, misc, 8 + len(body)) + body
IP, TID, TIME, CHAIN, BRANCH, REGS, STACK, IDENTIFIER = 1, 2, 4, 32, 1 << 11, 1 << 12, 1 << 13, 1 << 16
KERNEL, USER, GUEST, DEFERRED = (2 ** 64 - n for n in (128, 512, 2048, 640))
K = 2 ** 64 - 2 ** 31
PLAIN = IP | TID | TIME | CHAIN | IDENTIFIER
def attr(n, extra, calls=0, limit=0):
    body = p("IIQQQQQ", 0, 112, n, 1000, PLAIN | extra, 0, 1 << 18) + bytes(24)
    return body + p("QQIIQIHH", calls, 1, 0, 0, 0, 0, limit, 0) + p("Q", 100 + n)
when = lambda t, e=0: p("IIQQ", 7, 7, t, 100 + e)
mode = sys.argv[1] if len(sys.argv) > 1 else ""
out = struct.pack("<Q", 0x32454c4946524550) + p("Q", 16)
out += record(64, attr(0, 0), 0) + record(64, attr(1, BRANCH, 1 << 11 | 1), 0)
out += record(64, attr(2, REGS | STACK), 0) + record(64, attr(3, 0, 0, 3), 0)
out += record(3, p("II", 7, 7) + b"program\0" + when(1), 1 << 13)
def mmap(start, name, misc=2, pgoff=0):
    name = name + bytes(8 - len(name) % 8)
    return record(10, p("IIQQQIIQQII", 7, 7, start, 0x10000, pgoff, 0, 0, 0, 0, 5, 2) + name +
                  when(2), misc)
out += mmap(0x400000, b"/bin/program") + mmap(0x700000, b"/lib/libc.so.6")
out += mmap(K, b"[kernel.kallsyms]_text", 1, K)
head = lambda e, t, ip: p("QQIIQ", 100 + e, ip, 7, 7, t)
def sample(e, chain, rest=b"", misc=2):
    global out, t
    t += 1
    out += record(9, head(e, t, 0x400010) + p("Q", len(chain)) +
                  b"".join(p("Q", c) for c in chain) + rest, misc)
if mode == "lost":
    out += record(64, attr(4, 0).replace(p("Q", PLAIN), p("Q", PLAIN & ~CHAIN), 1), 0)
    out += record(9, head(4, 11, 0x400010)) + record(2, p("QQ", 100, 5) + when(90))
if mode == "leader":
    task = lambda kind, tid, t: record(kind, p("IIIIQ", 7, 7, tid, 7, t) + when(t))
    out += task(7, 8, 3) + task(7, 9, 3) + task(4, 7, 10) + task(4, 9, 11)
    late = 20 * 10 ** 9
    out += 70000 * record(3, p("II", 1, 1) + b"other\0\0\0" + when(late))
    out += record(9, p("QQIIQ", 100, 0x400010, 7, 8, late) + p("Q", 0))
if mode == "long":
    out += b"".join(record(9, head(0, s * 10 ** 9, 0x400010) + p("Q", 0)) for s in (1, 21))
if mode:
    sys.stdout.buffer.write(out)
    sys.exit()
t = 10
sample(0, [USER, 0x400010, 0x400100, 0x700200])
sample(0, [KERNEL, K + 0x10, K + 0x20, USER, 0x400010, 0x400100, 0x700200], misc=1)
sample(0, [KERNEL, K + 0x10, DEFERRED, 99], misc=1)
sample(0, [GUEST, 0x400010])
sample(3, [USER, 0x400010, 0x400100, 0x400200])
branch = lambda a, b: p("QQQ", a, b, 0)
calls = p("Q", 2) + branch(0x400105, 0x400300) + branch(0x700205, 0x400100)
sample(1, [KERNEL, K + 0x10, USER, 0x400310, 0x1], calls, misc=1)
copied = p("QQ", 2, 5) + p("Q", 16) + b"s" * 16 + p("Q", 8)
sample(2, [], copied)
sample(2, [KERNEL, K + 0x10], copied, misc=1)
out += record(2, p("QQ", 100, 5) + when(90))
sys.stdout.buffer.write(out)
