#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfdata_spe.py big|little file|pipe context|switch|aux|thread [SEED [damage|whole]] WANT

Writes a perf.data with Arm SPE's packets in AUX buffers to stdout, and what they are to
WANT: "IMAGE OFFSET N" for each place that was sampled, and the samples as perf has them,
"s TID TIME IP".

Threads of three processes take turns on two CPUs; one process executes something else on
the way. Who ran is told by context packets, by switches, by the AUX records, or because
each thread has a buffer of its own. Pieces of buffers are cut anywhere, or, as perf wants
them, where records end (whole). With damage some
bytes are no packets, and some AUX records say that samples are lost: the lines
"aux_damaged N", "aux_truncated N", "aux_collision N", "aux_partial N" in WANT.
"""
import collections
import random
import struct
import sys

import perfdata_make as make
from perfdata_make import PIPE, p, record, text

MODE, WANT = sys.argv[3], sys.argv[-1]
SEED = int(sys.argv[4]) if len(sys.argv) > 5 else 1
DAMAGE = "damage" in sys.argv
rng = random.Random(SEED)

IP, TID, TIME, CPU, IDENTIFIER = 1, 2, 4, 128, 1 << 16
TYPE = IP | TID | TIME | CPU | IDENTIFIER
PERIOD = 1024
SHIFT, MULT, ZERO = 3, 320, 5000  # 40 ns a tick
NONE = 2 ** 32 - 1
MIDR = 0x410fd0c0  # Neoverse N1
EVENTS = [("arm_spe_0/ts_enable=1/", 8, 0x10001, PERIOD), ("dummy:u", 1, 9, 1)]
BASE = 0x400000


def ns(ticks):
    return ZERO + ticks * MULT // 2 ** SHIFT


def attr(event):
    _, kind, config, period = EVENTS[event]
    flags = make.bits((8, 1, event), (9, 1, event), (18, 1, 1), (23, 1, event),
                      (24, 1, event), (26, 1, event))
    return p("IIQQQQ", kind, 112, config, period, TYPE, 4) + flags + bytes(64)


def trailer(pid, tid, time, cpu, event=1):
    return p("IIQIIQ", pid, tid, time, cpu, 0, 100 + event)


def comm(pid, tid, name, time, misc=0):
    return time, record(3, p("II", pid, tid) + text(name) + trailer(pid, tid, time, 0), misc)


def mmap2(pid, name, offset, time):
    body = p("IIQQQIIQQII", pid, pid, BASE, 0x10000, offset, 8, 1, 42, 7, 5, 2)
    return time, record(10, body + text(name) + trailer(pid, pid, time, 0), 2)


# ---- packets: little-endian, whatever the file is ----

def packet(header, fmt, value):
    return bytes(header) + struct.pack("<" + fmt, value)


def spe(pc, tid, ticks):
    kernel = pc >> 63
    out = packet([0xb0], "Q", pc & (1 << 56) - 1 | (0xa << 60 if kernel else 0x8 << 60))
    if MODE == "context":
        out += packet([0x64], "I", tid)
    kind = rng.randrange(3)
    if kind == 0:  # a load
        out += packet([0x49], "B", 0) + packet([0x52], "H", rng.choice([0x16, 0x1e]))
        out += packet([0xb2], "Q", 0x7000 + 8 * rng.randrange(64))
        out += packet([0x9a], "H", 1) + packet([0x43], "B", rng.choice([0, 8, 0xe]))
    elif kind == 1:  # a branch
        out += packet([0x4a], "B", 1) + packet([0x42], "B", rng.choice([2, 0x42, 0x82]))
        out += packet([0xb1], "Q", 0x8 << 60 | pc + 0x40)
    else:
        out += packet([0x48], "B", 0) + packet([0x42], "B", 2)
    out += packet([0x98], "H", 10 + rng.randrange(300)) + packet([0x99], "H", 3)
    out += bytes(rng.choice([0, 0, 1, 7]))
    return out + packet([0x71], "Q", ticks) + bytes(rng.choice([0, 0, 3, 30]))


# ---- the machine ----

THREADS = [(10, 10), (10, 13), (11, 11), (12, 12)]  # process, thread
EXEC_AT, END, SLICE = 5000, 10000, 250
PLACES = {10: ("/bin/first", 0x1000), 12: ("/bin/third", 0)}


def place(pid, ticks):
    if pid == 11:
        return ("/bin/first", 0x1000) if ticks < EXEC_AT else ("/bin/second", 0)
    return PLACES[pid]


counts, samples, lost = collections.Counter(), [], collections.Counter()
buffers = collections.defaultdict(bytearray)  # by (cpu, tid)
ends = collections.defaultdict(list)
told = collections.Counter()
by_time = [comm(10, 10, "first", 10, 1 << 13), mmap2(10, "/bin/first", 0x1000, 11),
           (20, record(7, p("IIIIQ", 11, 10, 11, 10, 20) + trailer(10, 10, 20, 0))),
           (21, record(7, p("IIIIQ", 10, 10, 13, 10, 21) + trailer(10, 10, 21, 0))),
           comm(12, 12, "third", 22, 1 << 13), mmap2(12, "/bin/third", 0, 23),
           comm(11, 11, "second", ns(EXEC_AT), 1 << 13),
           mmap2(11, "/bin/second", 0, ns(EXEC_AT))]


def tell(key, pid, tid, cpu, ticks):
    """The AUX record of what a buffer has got since the one before."""
    size = len(buffers[key]) - told[key]
    flags = 0
    if DAMAGE and rng.randrange(3) == 0:
        flags = rng.choice([1, 4, 8, 9])
        for bit, name in ((1, "truncated"), (4, "partial"), (8, "collision")):
            lost["aux_" + name] += flags & bit != 0
    by_time.append((ns(ticks), record(11, p("QQQ", told[key], size, flags) +
                                      trailer(pid, tid, ns(ticks), cpu, 0))))
    told[key] += size


for start in range(100, END, SLICE):
    free = list(THREADS)
    for cpu in range(2):
        pid, tid = free.pop(rng.randrange(len(free)))
        key = (NONE, tid) if MODE == "thread" else (cpu, NONE)
        end = start + SLICE
        if MODE == "switch":
            by_time.append((ns(start), record(14, trailer(pid, tid, ns(start), cpu))))
        if MODE == "thread" and start == 100:
            by_time.append((ns(start), record(
                12, p("II", pid, tid) + trailer(pid, tid, ns(start), cpu, 0))))
        for ticks in sorted(rng.sample(range(start, end), rng.randrange(20))):
            offset = 4 * rng.randrange(16)
            pc = BASE + 0x100 + offset if rng.randrange(8) else 0xffff800010000000 + offset
            data = spe(pc, tid, ticks)
            if DAMAGE and rng.randrange(10) == 0:
                at = data.rindex(packet([0x71], "Q", ticks))
                data = data[:at] + b"\xff" + data[at:]
                lost["aux_damaged"] += 1
            else:
                samples.append((tid, ns(ticks), pc))
                if pc < 1 << 63:
                    name, bias = place(pid, ticks)
                    counts[name, pc - BASE + bias] += 1
            buffers[key] += data
            ends[key].append(len(buffers[key]))
        if MODE == "switch":
            by_time.append((ns(end), record(14, trailer(pid, tid, ns(end), cpu), 1 << 13)))
        if MODE in ("aux", "thread") or rng.randrange(3) == 0:
            tell(key, pid, tid, cpu, end)

if MODE in ("aux", "thread"):  # all was told of
    assert all(told[k] == len(b) for k, b in buffers.items())


# ---- the file ----

def pieces():
    out = []
    for (cpu, tid), data in sorted(buffers.items()):
        at = 0
        while at < len(data):
            size = min(len(data) - at, rng.randrange(1, 400))
            if "whole" in sys.argv:
                size = min(e for e in ends[cpu, tid] if e >= at + size) - at
            pad = -size % 8  # as perf does, and counts
            head = p("QQQIIII", size + pad, at, 0, cpu & 0xff, tid, cpu, 0)
            out.append((at, record(71, head) + bytes(data[at:at + size]) + bytes(pad)))
            at += size
    rng.shuffle(out)
    return [b for _, b in sorted(out, key=lambda x: x[0])]


def data():
    info = p("II", 4, 0) + p("QQ", 8, MODE != "thread")
    if SEED % 2:
        info = p("II", 4, 0) + p("QQQQ", 1, 4, 8, 2) + b"".join(
            p("QQQQQQ", 0x1010101010101010, cpu, 3, MIDR, 8, 256) for cpu in range(2))
    out = record(79, p("QQQQQBB6x", SHIFT, MULT, ZERO, 0, 2 ** 64 - 1, 1, 0))
    out += record(70, info)
    records = [b for _, b in sorted(by_time, key=lambda x: x[0])]
    rest = pieces()
    step = max(1, len(rest) // len(records))
    for r in records:
        out += r + b"".join(rest[:step])
        rest = rest[step:]
    return out + b"".join(rest)


FEATURES = {
    3: make.string("elsewhere"), 4: make.string("6.1.0"), 6: make.string("aarch64"),
    7: p("II", 2, 2), 9: make.string("0x%016x" % MIDR),
    12: p("II", 2, 112) + b"".join(
        attr(e) + p("I", 1) + make.string(EVENTS[e][0]) + p("Q", 100 + e) for e in range(2)),
    16: p("I", 2) + b"".join(p("I", n) + make.string(s)
                             for n, s in ((1, "software"), (8, "arm_spe_0"))),
}
make.attr, make.FEATURES, make.data = attr, FEATURES, data
sys.stdout.buffer.write(make.write_pipe() if PIPE else make.write_file())
with open(WANT, "w") as want:
    for (name, offset), n in sorted(counts.items()):
        print(name, hex(offset), n, file=want)
    for s in sorted(samples):
        print("s %d %d %x" % s, file=want)
    for name, n in sorted(lost.items()):
        if n:
            print(name, n, file=want)
