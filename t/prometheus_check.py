#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads metrics from stdin, stricter than Prometheus does; prints them sorted.

Text format 0.0.4: each family has one HELP and one TYPE, in front of all its
samples, which are together; no series twice; labels quoted and escaped. Naming:
counters end in _total, nothing else does, units are base units and come last.
"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL})(?:,{LABEL})*)\}})? (\S+)")
OTHER_UNITS = ("_percent", "_ns", "_us", "_ms", "_s", "_hz", "_kib", "_mib")
SUFFIXES = {"gauge": ("",), "counter": ("",), "summary": ("_sum", "_count")}


def fail(number, line, why):
    sys.exit(f"line {number}: {why}: {line}")


def check(text):
    if text and not text.endswith("\n"):
        sys.exit("the last line does not end")
    families, series, current, helped = {}, {}, None, None
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        if comment and comment[1] == "HELP":
            if comment[2] in families or helped:
                fail(number, line, "a second HELP, or one without a TYPE")
            helped = comment[2]
        elif comment:
            if comment[2] != helped or comment[3] not in SUFFIXES:
                fail(number, line, "a TYPE without its HELP, or unknown")
            current, helped = comment[2], None
            families[current] = (comment[3], [])
            if (comment[3] == "counter") != current.endswith("_total"):
                fail(number, line, "counters, and only they, end in _total")
            if current.removesuffix("_total").endswith(OTHER_UNITS):
                fail(number, line, "not a base unit")
        else:
            sample = SAMPLE.fullmatch(line)
            if not sample or helped or not current:
                fail(number, line, "no sample, or not behind a TYPE")
            kind, samples = families[current]
            if sample[1] not in [current + suffix for suffix in SUFFIXES[kind]]:
                fail(number, line, "of another family")
            labels = tuple(sorted(re.findall(LABEL, sample[2] or "")))
            if len({name for name, _ in labels}) != len(labels):
                fail(number, line, "a label twice")
            if (sample[1], labels) in series:
                fail(number, line, "a series twice")
            value = float(sample[7])
            if kind != "gauge" and not value >= 0:
                fail(number, line, "a counter below 0")
            series[sample[1], labels] = value
            samples.append(sample[1])
    for name, (kind, samples) in families.items():
        if not samples or helped:
            sys.exit(f"{name}: no samples")
        if kind == "summary" and len(samples) != 2:
            sys.exit(f"{name}: not one sum and one count")
    return series


for (name, labels), value in sorted(check(sys.stdin.read()).items()):
    print(name + "".join(f" {key}={text}" for key, text in labels), value)
