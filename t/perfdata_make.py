#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfdata_make.py big|little file|pipe [zstd] [old] - writes a small perf.data to stdout

Two events of different layout, two rounds out of order, mappings, a fork, branches with
all their bits, a raw field, a call chain, a stack, registers, weights and a name for
everything: the same in each byte order, as a file or as perf writes it to a pipe, and
with its records compressed. "old" is of a 32-bit kernel, whose addresses are low, of a
time when mappings had no protection; and two features of the header are damaged.
"""
import struct
import subprocess
import sys

BIG, PIPE, ZSTD = sys.argv[1] == "big", sys.argv[2] == "pipe", "zstd" in sys.argv
OLD = "old" in sys.argv
E = ">" if BIG else "<"
IP, TID, TIME, ADDR, CALLCHAIN, ID, CPU, PERIOD = 1, 2, 4, 8, 32, 64, 128, 256
RAW, BRANCH, REGS, STACK, WEIGHT, IDENTIFIER = 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 16
TYPES = [IP | TID | TIME | PERIOD | RAW | BRANCH | IDENTIFIER,
         IP | TID | TIME | ADDR | CALLCHAIN | CPU | PERIOD | REGS | STACK | WEIGHT |
         IDENTIFIER]
NAMES = ["cycles:upp", "page-faults"]
NR_REGS = 3


def p(fmt, *values):
    return struct.pack(E + fmt, *values)


def bits(*fields):
    """(first bit, width, value) of a 64-bit bit field, as a compiler lays it out."""
    v = 0
    for at, width, value in fields:
        v |= value << (64 - at - width if BIG else at)
    return p("Q", v)


def text(s, size=None):
    b = s.encode() + b"\0"
    return b.ljust(size or (len(b) + 7) // 8 * 8, b"\0")


def string(s):
    b = text(s, 64)
    return p("I", len(b)) + b


def record(kind, body, misc=0):
    return p("IHH", kind, misc, 8 + len(body)) + body


def trailer(pid, time, event):
    """What each other record ends with; both events keep their ids at its end."""
    return p("IIQ", pid, pid, time) + (p("II", 0, 0) if event else b"") + \
        p("Q", 100 + event)


def attr(event):
    flags = bits((5, 1, 1), (8, 1, 1), (9, 1, 1), (10, 1, 0), (15, 2, 2 - 2 * event),
                 (18, 1, 1), (23, 1, 1), (24, 1, 1))
    return p("IIQQQQ", event, 112, 2 * event, 1000 + event, TYPES[event], 4) + flags + \
        p("IIQQQQIiQ", 0, 0, 0, 0, 1 << 3, (1 << NR_REGS) - 1, 16, 0, 0) + p("II", 0, 0)


def sample(event, pid, time, pc, n, misc=2):
    head = p("QQIIQ", 100 + event, pc, pid, pid, time)
    if event == 0:
        raw = b"rawbytes" + p("I", n)
        body = head + p("Q", 1000) + p("I", len(raw)) + raw
        body += p("Q", 2)
        for i in range(2):
            body += p("QQ", pc + i, pc + 0x10 + i)
            body += bits((i, 1, 1), (3, 1, i), (4, 16, 300 * i + n), (20, 4, 5), (24, 2, 2))
        return record(9, body, misc)
    body = head + p("QIIQ", 0x7000 + n, 1, 0, 77 + n) + p("QQQ", 2, 2 ** 64 - 512, pc)
    body += p("QQQQ", 2, 1, 2, 3) + p("Q", 16) + b"s" * 16 + p("Q", 8) + p("Q", 40 + n)
    return record(9, body, 2)


def mmap2(pid, time, start, size, offset, name):
    body = p("IIQQQIIQQ", pid, pid, start, size, offset, 8, 1, 42, 7)
    body += b"" if OLD else p("II", 5, 2)
    return record(10, body + text(name) + trailer(pid, time, 0), 2)


def comm(pid, time, name, misc=0):
    return record(3, p("II", pid, pid) + text(name) + trailer(pid, time, 0), misc)


def fork(pid, parent, time):
    return record(7, p("IIIIQ", pid, parent, pid, parent, time) + trailer(pid, time, 0))


ROUND = record(68, b"")
RECORDS = [
    comm(10, 5, "first", 1 << 13), mmap2(10, 6, 0x400000, 0x10000, 0x1000, "/bin/first"),
    sample(0, 10, 1000, 0x400123, 1), sample(1, 10, 900, 0x400456, 2), ROUND,
    # This process is known a round later than it was sampled.
    sample(0, 11, 1200, 0x400123, 3), fork(11, 10, 1100),
    record(2, p("QQ", 101, 4) + trailer(10, 1300, 1)),
    sample(0, 12, 1400, 0xffffffff81000010, 4), ROUND,
    sample(1, 11, 1500, 0x900000, 5), comm(11, 1600, "second", 1 << 13),
    mmap2(11, 1601, 0x400000, 0x10000, 0, "/bin/second"),
    sample(0, 11, 1700, 0x400123, 6), ROUND,
]

if OLD:
    KERNEL = p("IIQQQ", 2 ** 32 - 1, 0, 0x80008200, 0x70000000, 0x80008200)
    RECORDS[:0] = [
        record(1, KERNEL + text("[kernel.kallsyms]_stext") + trailer(0, 0, 0), 1)]
    RECORDS[-1:] = [sample(0, 11, 1800, 0x80008300, 7, misc=1), ROUND]

BUILD_IDS = record(67, p("i", -1) + bytes(range(20)) + bytes(4) + text("/bin/first"), 2)
FEATURES = {
    2: BUILD_IDS,
    3: string("elsewhere"), 4: string("5.0.1"), 6: string("ppc64" if BIG else "x86_64"),
    7: p("II", 6, 8), 8: string("Some CPU @ 2.50GHz"),
    12: p("II", 2, 112) + b"".join(
        attr(e) + p("I", 1) + string(NAMES[e]) + p("Q", 100 + e) for e in range(2)),
    27: p("IIIII", 1, 1, 1, 1, 4096),
    29: p("IIQQ", 1, 1, 1_700_000_000_000_001_700, 1700),
}
if OLD:
    FEATURES[8] = p("I", 2 ** 31) + b"cut short"
    FEATURES[2] = FEATURES[2][:20]


def data():
    if not ZSTD:
        return b"".join(RECORDS)
    plain = b"".join(r for r in RECORDS if r != ROUND)
    packed = subprocess.run(["zstd", "-qc"], input=plain, capture_output=True, check=True)
    z = packed.stdout  # cut where no record ends
    return record(81, z[:50]) + record(81, z[50:]) + ROUND


def write_pipe():
    out = b""
    magic = struct.pack(E + "Q", 0x32454c4946524550)
    out += magic + p("Q", 16)
    for e in range(2):
        out += record(64, attr(e) + p("Q", 100 + e))
    for f, body in FEATURES.items():
        out += record(80, p("Q", f) + body)
    return out + data()


def write_file():
    ids = 104
    attrs = ids + 16
    start = attrs + 2 * 128
    body = data()
    out = struct.pack(E + "Q", 0x32454c4946524550) + p("QQ", 104, 128)
    out += p("QQ", attrs, 2 * 128) + p("QQ", start, len(body)) + p("QQ", 0, 0)
    out += p("QQQQ", sum(1 << f for f in FEATURES), 0, 0, 0)
    out += p("QQ", 100, 101)
    for e in range(2):
        out += attr(e) + p("QQ", ids + 8 * e, 8)
    out += body
    at = len(out) + 16 * len(FEATURES)
    for f in FEATURES.values():
        out += p("QQ", at, len(f))
        at += len(f)
    return out + b"".join(FEATURES.values())


if __name__ == "__main__":
    sys.stdout.buffer.write(write_pipe() if PIPE else write_file())
