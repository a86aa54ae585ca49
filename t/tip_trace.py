# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what cpi tip says of a pipeline trace.

tip_trace.py errors TRACE	cycles, and the errors of instructions in percent
tip_trace.py oracle JSON CSV	fails unless cpi tip's Oracle is that of the CSV file
tip_trace.py bias TRACE		fails if TIP at random cycles differs from the Oracle
tip_trace.py picture SVG	says what a picture has
"""
import json
import statistics
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

POLICIES = "TIP", "TIP-ILP", "NCI", "LCI", "LCI-last", "Dispatch", "Software"
SVG = "{http://www.w3.org/2000/svg}"


def tip(trace, *options):
    return json.loads(subprocess.check_output(["cpi", "tip", "--format=json", *options, trace]))


def errors(trace):
    t = tip(trace)
    e = t["errors"]["instruction"]
    print(t["cycles"], *("-" if e[p] is None else "%.1f" % (100 * e[p]) for p in POLICIES))


def oracle(file, wanted):
    t = json.load(open(file))
    got = {int(r["pc"], 16): r["oracle"] * t["cycles"] for r in t["profile"]}
    want = {int(p, 16): float(n) for p, n in (line.split(";") for line in open(wanted))}
    assert got.keys() == want.keys()
    assert all(abs(got[p] - want[p]) < 1e-6 for p in want)
    assert abs(sum(t["states"].values()) - 1) < 1e-9
    assert t["errors"]["block"]["NCI"] is None


def bias(trace):
    """The seeds are fixed, so this does not fail by chance."""
    exact = tip(trace)
    hot = max(exact["profile"], key=lambda r: r["oracle"])
    n = 40
    share = []
    for seed in range(n):
        t = tip(trace, "--interval=101", "--random", f"--seed={seed}")
        assert abs(t["samples"] - exact["cycles"] / 101) <= 1
        share += [r["tip"] for r in t["profile"] if r["pc"] == hot["pc"]]
    mean, error = statistics.mean(share), statistics.stdev(share) / n ** .5
    print("# oracle", hot["oracle"], "TIP", mean, "+-", error)
    assert abs(mean - hot["oracle"]) < 4 * error


def picture(file):
    """Its first text, how many bars it has, the title of the last; rows; scripts."""
    t = ElementTree.parse(file).getroot()
    texts = [e.text for e in t.iter(SVG + "text")]
    bars = [e for e in t.iter(SVG + "rect") if e.find(SVG + "title") is not None]
    print(t.get("viewBox") is not None, texts[0], len(bars), bars[-1].find(SVG + "title").text)
    print(sum(s.startswith("0x") for s in texts), "script" in ElementTree.tostring(t).decode())


{f.__name__: f for f in (errors, oracle, bias, picture)}[sys.argv[1]](*sys.argv[2:])
