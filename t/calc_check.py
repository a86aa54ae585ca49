#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calc_check.py [lines] <JSON: checks what cpi calc --format=json writes.

Checks the members of each object and that samples and categories add up, and prints the
procedure, its samples, the unit of frequencies and the attribution. With an argument, each
line is an object (cpi calc --all).
"""
import json
import sys


def check_interval(i, value):
    """A 90 % interval around a value; null: no bound there."""
    assert list(i) == ["low", "likely", "high"], i
    if value is None or i["likely"] is None:
        return
    assert abs(i["likely"] - value) <= 0.01 * value + 1, (i, value)
    assert i["low"] is None or 0 <= i["low"] <= i["likely"], i
    assert i["high"] is None or i["high"] >= i["likely"], i


def check_culprits(stall):
    assert stall["cycles"] > 0 and stall["culprits"]
    for culprit in stall["culprits"]:
        assert list(culprit) == ["reason", "offset", "most", "usually_helps"]
        assert 0 <= culprit["most"] <= stall["cycles"] + 0.001


def check(r):
    assert list(r) == ["procedure", "image", "build_id", "frequency_unit",
                       "attribution", "blocks", "edges", "summary"], list(r)
    starts = {b["start"] for b in r["blocks"]}
    samples = blamed = 0
    for b in r["blocks"]:
        assert list(b) == ["start", "end", "frequency", "frequency_interval", "confidence",
                           "best_case_cpi", "actual_cpi", "actual_cpi_interval",
                           "faster_than_best", "instructions"], b
        assert b["faster_than_best"] in (True, False)
        if b["faster_than_best"]:
            assert b["actual_cpi"] < b["best_case_cpi"], b
        check_interval(b["frequency_interval"], b["frequency"])
        check_interval(b["actual_cpi_interval"], b["actual_cpi"])
        assert set(b["confidence"]) == {"shape", "scale"}
        for i in b["instructions"]:
            known = [key for key in i if key != "possible_stall"]
            assert known == ["offset", "text", "samples", "blamed_samples",
                             "frequency", "frequency_interval", "cpi",
                             "cpi_interval", "min_cycles", "stalls"], i
            if "possible_stall" in i:
                check_culprits(i["possible_stall"])
                assert i["frequency_interval"]["low"] is None or (
                    i["frequency_interval"]["low"] < i["frequency"])
            check_interval(i["frequency_interval"], i["frequency"])
            check_interval(i["cpi_interval"], i["cpi"])
            assert int(b["start"], 16) <= int(i["offset"], 16) < int(b["end"], 16)
            samples += i["samples"]["cpu-clock"]
            blamed += i["blamed_samples"]
            for s in i["stalls"]:
                assert list(s) == ["kind", "cycles", "cycles_interval", "culprits"]
                check_interval(s["cycles_interval"], s["cycles"])
                assert s["kind"] in ("static", "dynamic") and s["cycles"] > 0
                check_culprits(s)
    for e in r["edges"]:
        assert list(e) == ["from", "to", "frequency", "frequency_interval", "confidence",
                           "taken_samples", "not_taken_samples"], e
        check_interval(e["frequency_interval"], e["frequency"])
        assert e["from"] in starts and (e["to"] is None or e["to"] in starts)
    s = r["summary"]
    parts = [x["samples"] for x in [*s["dynamic"].values(), *s["static"].values()]
             if isinstance(x, dict)]
    whole = sum(parts) + s["execution"] + s["error"] + sum(s["not_tallied"].values())
    assert abs(whole - s["samples"]) < 0.1, (whole, s)
    assert abs(samples - blamed) < 0.1
    return samples


for line in sys.stdin if sys.argv[1:] else [sys.stdin.read()]:
    r = json.loads(line)
    print(r["procedure"], check(r), r["frequency_unit"], r["attribution"])
