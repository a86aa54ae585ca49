#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random hardware records, as a perf.data file and as records_dump reads them.

usage: records_perf.py KIND SEED FILE >LINES

KIND: op or fetch, op-zen3, fetch-zen3, op-zen4, fetch-zen4, spe, source. The seed makes
the same file each time.
"""
import random
import struct
import sys

ARCH, CPUID, PMU_MAPPINGS, PMU_CAPS = 6, 9, 16, 31
IP, TID, RAW, DATA_SRC = 1 << 0, 1 << 1, 1 << 10, 1 << 15
SAMPLE, AUXTRACE_INFO, AUXTRACE = 9, 70, 71


def string(text):
    data = text.encode() + b"\0"
    data += bytes(-len(data) % 64)
    return struct.pack("<I", len(data)) + data


def perf_data(path, pmu_type, sample_type, records, features):
    """Writes a file with one event; features are (number, bytes)."""
    attr = struct.pack("<IIQQQQ", pmu_type, 128, 0, 100000, sample_type, 0)
    attr += struct.pack("<Q", 1 << 18) + bytes(128 - len(attr) - 8)
    attr += struct.pack("<QQ", 0, 0)
    data_at = 104 + len(attr)
    bits = sum(1 << number for number, _ in features)
    header = b"PERFILE2" + struct.pack(
        "<QQQQQQQQ", 104, len(attr), 104, len(attr), data_at, len(records), 0, 0)
    header += struct.pack("<QQQQ", bits, 0, 0, 0)
    at = data_at + len(records) + 16 * len(features)
    index, bodies = b"", b""
    for _, body in features:
        index += struct.pack("<QQ", at + len(bodies), len(body))
        bodies += body
    with open(path, "wb") as f:
        f.write(header + attr + records + index + bodies)


def record(kind, body, misc=0):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def ibs(kind, rand, path):
    name, _, cpu = kind.partition("-")
    family, model = (0x19, 0x01) if cpu == "zen3" else (0x19, 0x11)
    caps = 0xbff if cpu == "zen4" else 0x3ff
    valid, nr = (3 << 17, 8) if name == "op" else (3 << 48, 4)
    records = b""
    for _ in range(200):
        # Single bits, dense words and words as they come.
        regs = [rand.getrandbits(64) & rand.choice((~0, rand.getrandbits(64)))
                & 0xffffffffffffffff for _ in range(nr)]
        regs[0] |= valid
        if rand.random() < 0.5:
            regs[min(3, nr - 1)] &= 0xff
        raw = struct.pack("<I%dQ" % nr, caps, *regs)
        print(name, "%x %x %x" % (family, model, caps), raw.hex())
        records += record(SAMPLE, struct.pack("<QIII", 0x401000, 1, 1, len(raw)) + raw, 2)
    mappings = struct.pack("<II", 1, 10) + string("ibs_" + name)
    features = [(ARCH, string("x86_64")),
                (CPUID, string("AuthenticAMD,%d,%d,1" % (family, model))),
                (PMU_MAPPINGS, mappings)]
    if cpu == "zen4":
        features.append((PMU_CAPS, struct.pack("<II", 1, 1) + string(
            "zen4_ibs_extensions") + string("1") + string("ibs_op")))
    perf_data(path, 10, IP | TID | RAW, records, features)


def source(rand, path):
    records = b""
    for _ in range(1000):
        word = rand.getrandbits(46) & rand.choice((~0, rand.getrandbits(46), rand.getrandbits(46)))
        word &= ~(7 << 43) | rand.randrange(5) << 43    # hops that perf has a name for
        print("source %x" % word)
        records += record(SAMPLE, struct.pack("<QIIQ", 0x401000, 1, 1, word), 2)
    perf_data(path, 4, IP | TID | DATA_SRC, records, [(ARCH, string("x86_64"))])


def spe_packet(rand):
    """A packet whose words are the same in all versions of perf."""
    def payload(header, size):
        return bytes([header]) + rand.randbytes(size)
    events = rand.getrandbits(12) | rand.getrandbits(2) << 17
    return rand.choice((
        lambda: b"\x00", lambda: b"\x01", lambda: payload(0x71, 8),
        lambda: b"\x52" + struct.pack("<H", events & 0xfff),
        lambda: b"\x62" + struct.pack("<I", events),
        lambda: b"\x42" + bytes([events & 0xff]),
        lambda: payload(0x43, 1), lambda: payload(0x53, 2),
        lambda: payload(0x64 + rand.randrange(2), 4),
        lambda: b"\x48" + bytes([rand.choice((0, 1, 0x08, 0x0a, 0x5c, 0x7e))]),
        lambda: b"\x49" + bytes([rand.choice((0, 1, 4, 5, 2, 3, 0x1e, 0x0b, 0x10, 0x11,
                                              0x30))]),
        lambda: b"\x4a" + bytes([rand.randrange(4)]),
        lambda: payload(0xb0 + rand.choice((0, 1, 2, 3, 5, 7)), 8),
        lambda: payload(0x98 + rand.randrange(3), 2),
        lambda: bytes([0x20 + rand.randrange(4)]) +
        payload(0xb0 + rand.choice((0, 1, 2, 3, 5, 7)), 8),
        lambda: b"\x20\x98" + rand.randbytes(2),
    ))()


def spe(rand, path):
    data = b"".join(spe_packet(rand) for _ in range(2000))
    data += bytes(-len(data) % 8)
    print("spe", data.hex())
    records = record(AUXTRACE_INFO, struct.pack("<IIQQ", 4, 0, 13, 1))
    body = struct.pack("<QQQIIII", len(data), 0, 0, 0, 1, 0, 0)
    records += record(AUXTRACE, body) + data
    perf_data(path, 13, IP | TID, records, [(ARCH, string("aarch64"))])


def main():
    kind, seed, path = sys.argv[1:]
    rand = random.Random(int(seed))
    if kind == "spe":
        spe(rand, path)
    elif kind == "source":
        source(rand, path)
    else:
        ibs(kind, rand, path)


if __name__ == "__main__":
    main()
