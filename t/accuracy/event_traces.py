# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipeline traces as event_measure reads them: "PC CYCLE EARLY EVENTS" by instruction.

Of Kanata logs the labels tell of misses; of the tokens of TIP's authors only
mispredictions are known.
"""
import gzip
import struct
import subprocess

DCACHE, MISPREDICT, ICACHE = 1 << 0, 1 << 3, 1 << 4
LABELS = {"D$-miss": DCACHE, "Br-pred-miss": MISPREDICT, "i-cache-miss": ICACHE}
TOKEN = struct.Struct("<Q4H4Q16x")


def unpacked(path):
    if path.endswith(".gz"):
        with gzip.open(path) as file:
            return file.read()
    return subprocess.run(["zstd", "-qdc", path], stdout=subprocess.PIPE, check=True).stdout


def read_kanata(text):
    """What retired: (cycle, pc, cycle of its first event, events)."""
    pc, seen, retired, cycle = {}, {}, [], 0
    for line in text.decode(errors="replace").splitlines():
        field = line.split("\t")
        if field[0] == "C":
            cycle += int(field[1])
        elif field[0] == "C=":
            cycle = int(field[1])
        elif field[0] == "L" and field[2] == "0":
            head = field[3].split(":")[0]
            pc[field[1]] = int(head, 16)
        elif field[0] == "L":
            for label, event in LABELS.items():
                if label in field[3]:
                    first, events = seen.get(field[1], (cycle, 0))
                    seen[field[1]] = first, events | event
        elif field[0] == "R":
            if field[3] == "0":
                retired.append((cycle, pc[field[1]], *seen.get(field[1], (cycle, 0))))
            pc.pop(field[1], None)
            seen.pop(field[1], None)
    return retired


def read_tokens(data):
    retired = []
    for at in range(0, len(data) - TOKEN.size + 1, TOKEN.size):
        head, *rest = TOKEN.unpack_from(data, at)
        cycle = head & (1 << 44) - 1
        for flags, pc in zip(rest[:4], rest[4:]):
            if flags & 1:
                retired.append((cycle, pc, cycle, MISPREDICT if flags >> 10 & 1 else 0))
    return retired


def convert(path):
    data = unpacked(path)
    retired = read_tokens(data) if "tokens" in path else read_kanata(data)
    return "".join(f"{pc:x} {cycle} {max(0, cycle - first)} {events}\n"
                   for cycle, pc, first, events in retired)
