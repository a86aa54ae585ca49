# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of one program, as perf writes them to a pipe.

recording(program, events, samples): events are Event, samples dictionaries of "event"
(its number), "pc" (an offset in the program, as all that follow), and what the event
has beside: "addr", "branches" (from, to, cycles), the newest first, "weights" (memory,
issue, retire), "data_src".
"""
import struct
from collections import namedtuple

IDENTIFIER, IP, TID, TIME, ADDR = 1 << 16, 1, 2, 4, 8
BRANCH, DATA_SRC, WEIGHT_STRUCT = 1 << 11, 1 << 15, 1 << 24
ALWAYS = IDENTIFIER | IP | TID | TIME
BASE, PID = 0x555500000000, 7

Event = namedtuple("Event", "type config period precise fields")


def p(fmt, *values):
    return struct.pack("<" + fmt, *values)


def record(kind, body, misc=2):
    return p("IHH", kind, misc, 8 + len(body)) + body


def text(s):
    b = s.encode() + b"\0"
    return b.ljust((len(b) + 7) // 8 * 8, b"\0")


def attr(number, e):
    flags = e.precise << 15 | 1 << 18  # ... and ids on all records
    body = p("IIQQQQQ", e.type, 128, e.config, e.period, ALWAYS | e.fields, 0, flags)
    return record(64, body + bytes(24) + p("Q", 1 << 3) + bytes(48) + p("Q", 100 + number), 0)


def sample(s, event, when):
    body = p("QQIIQ", 100 + s["event"], BASE + s["pc"], PID, PID, when)
    if event.fields & ADDR:
        body += p("Q", s.get("addr", 0))
    if event.fields & BRANCH:
        branches = s.get("branches", [])
        body += p("Q", len(branches))
        for source, target, cycles in branches:
            body += p("QQQ", BASE + source, BASE + target, 2 | cycles << 4)
    if event.fields & WEIGHT_STRUCT:
        memory, issue, retire = s.get("weights", (0, 0, 0))
        body += p("IHH", memory, issue, retire)
    if event.fields & DATA_SRC:
        body += p("Q", s.get("data_src", 0))
    return record(9, body, 2 | (1 << 14 if event.precise else 0))


def recording(program, events, samples):
    out = struct.pack("<Q", 0x32454c4946524550) + p("Q", 16)
    for number, e in enumerate(events):
        out += attr(number, e)
    out += record(80, p("QI", 6, 8) + b"x86_64\0\0", 0)
    out += record(3, p("II", PID, PID) + b"target\0\0" + p("IIQQ", PID, PID, 1, 100), 1 << 13)
    out += record(10, p("IIQQQIIQQII", PID, PID, BASE, 1 << 20, 0, 0, 0, 0, 0, 5, 2) +
                  text(program) + p("IIQQ", PID, PID, 2, 100))
    for when, s in enumerate(samples):
        out += sample(s, events[s["event"]], 10 + when)
    return out
