# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what cpi export wrote, strictly, and says what is in it.

usage: export_check.py FORMAT FILE [totals|stacks|labels|shares]

FORMAT is pprof, collapsed, speedscope, firefox, callgrind, or prof, which is what
cpi prof --format=csv says. "totals" are lines "EVENT SAMPLES" and "time NS";
"stacks" are "VALUES... outer;inner"; "labels" (of pprof) are "KEY=VALUE... VALUES";
"shares" are "PROCEDURE PERCENT" of the last column, prof's own of its first event.
What breaks the format ends it with a message.
"""
import csv
import gzip
import json
import re
import sys
from collections import Counter


def need(condition, what):
    if not condition:
        sys.exit("export_check: " + what)


# pprof: a protocol buffer, as profile.proto of github.com/google/pprof numbers it.

def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a number that does not end")
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """Yields (number, value); value is an integer or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        need(kind in (0, 2), "a field of type %d" % kind)
        value, at = varint(data, at)
        if kind == 2:
            need(at + value <= len(data), "a field beyond the end")
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def message(data, lists=()):
    """A dictionary of the last value of each field; of lists all of them."""
    out = {number: [] for number in lists}
    for number, value in fields(data):
        if number not in lists:
            out[number] = value
        elif isinstance(value, bytes):
            at = 0
            while at < len(value):  # packed
                one, at = varint(value, at)
                out[number].append(one)
        else:
            out[number].append(value)
    return out


def by_id(messages, what):
    out = {}
    for m in messages:
        need(m.get(1, 0) > 0 and m[1] not in out, "%s: a number twice, or 0" % what)
        out[m[1]] = m
    return out


def column_of(name):
    """The column that a title is of: "samples of EVENT", or another "KIND of EVENT"."""
    kind, event = name.split(" of ", 1)
    return event if kind == "samples" else event + "-" + kind


def read_pprof(path):
    top = {n: [] for n in range(1, 16)}
    with gzip.open(path) as f:
        for number, value in fields(f.read()):
            need(number in top, "field %d of a profile" % number)
            top[number].append(value)
    strings = [s.decode("utf-8") for s in top[6]]
    need(strings and strings[0] == "", "the first string is not empty")
    functions = by_id([message(m) for m in top[5]], "function")
    mappings = by_id([message(m) for m in top[3]], "mapping")
    locations = {}
    for raw in top[4]:
        m = {"lines": []}
        for number, value in fields(raw):
            if number == 4:
                m["lines"].append(message(value))
            else:
                m[number] = value
        need(m[1] not in locations, "a location twice")
        need(m.get(2, 0) == 0 or m[2] in mappings, "a location in no mapping")
        need(m["lines"], "a location without lines")
        for line in m["lines"]:
            need(line.get(1) in functions, "a line of no function")
        locations[m[1]] = m
    columns = []
    for raw in top[1]:
        m = message(raw)
        columns.append((strings[m.get(1, 0)], strings[m.get(2, 0)]))
    samples = []
    for raw in top[2]:
        labels = [message(v) for n, v in fields(raw) if n == 3]
        kept = b"".join(encode(n, v) for n, v in fields(raw) if n != 3)
        m = message(kept, (1, 2))
        need(len(m[2]) == len(columns), "a sample with %d values" % len(m[2]))
        stack = []
        for location in m[1]:
            need(location in locations, "a sample at no location")
            for line in locations[location]["lines"]:
                stack.append(strings[functions[line[1]].get(2, 0)])
        samples.append((stack[::-1], m[2],
                        {strings[k.get(1, 0)]: strings[k.get(2, 0)] for k in labels}))
    return [c if u == "count" else "time" for c, u in columns], samples


def encode(number, value):
    def number_of(v):
        out = bytearray()
        while v > 0x7F:
            out.append(v & 0x7F | 0x80)
            v >>= 7
        out.append(v)
        return bytes(out)
    if isinstance(value, bytes):
        return number_of(number << 3 | 2) + number_of(len(value)) + value
    return number_of(number << 3) + number_of(value)


def read_collapsed(path):
    samples = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.fullmatch(r"(.+) ([1-9][0-9]*)\n", line)
            need(m, "not a stack: %r" % line)
            samples.append((m[1].split(";"), [int(m[2])], {}))
    return ["first"], samples


# speedscope: what its file-format-schema.json demands of a sampled profile.

def read_speedscope(path):
    with open(path, encoding="utf-8") as f:
        top = json.load(f)
    need(top["$schema"] == "https://www.speedscope.app/file-format-schema.json",
         "another schema")
    frames = top["shared"]["frames"]
    for frame in frames:
        need(set(frame) <= {"name", "file", "line", "col"}, "a frame's members")
        need(isinstance(frame["name"], str), "a frame without a name")
        need(isinstance(frame.get("line", 1), int), "a line that is no number")
    need(0 <= top.get("activeProfileIndex", 0) < len(top["profiles"]), "no such profile")
    columns, stacks = [], {}
    for i, p in enumerate(top["profiles"]):
        need(set(p) == {"type", "name", "unit", "startValue", "endValue", "samples",
                        "weights"}, "a profile's members")
        need(p["type"] == "sampled", "not sampled")
        need(p["unit"] in ("none", "nanoseconds"), "unit " + p["unit"])
        need(len(p["samples"]) == len(p["weights"]), "samples and weights")
        need(abs(p["endValue"] - p["startValue"] - sum(p["weights"])) < 1, "endValue")
        columns.append("time" if p["unit"] == "nanoseconds" else column_of(p["name"]))
        for sample, weight in zip(p["samples"], p["weights"]):
            need(all(0 <= n < len(frames) for n in sample), "no such frame")
            values = stacks.setdefault(tuple(sample), [0] * len(top["profiles"]))
            values[i] += weight
    return columns, [([frames[n]["name"] for n in s], v, {}) for s, v in stacks.items()]


# The Firefox Profiler's tables: each column as long as its table, indexes within bounds.

def read_firefox(path):
    with open(path, encoding="utf-8") as f:
        top = json.load(f)
    meta, shared = top["meta"], top["shared"]
    need(meta["preprocessedProfileVersion"] == 60, "another version")
    strings = shared["stringArray"]
    for name, columns in {
            "stackTable": "frame prefix",
            "frameTable": "address inlineDepth category subcategory func nativeSymbol "
                          "innerWindowID line column",
            "funcTable": "name isJS relevantForJS resource source lineNumber columnNumber",
            "resourceTable": "lib name host type",
            "nativeSymbols": "libIndex address name functionSize",
            "sources": "id filename"}.items():
        table = shared[name]
        need(set(table) == set(columns.split()) | {"length"}, "columns of " + name)
        need(all(len(table[c]) == table["length"] for c in columns.split()),
             "columns of %s differ in length" % name)
    stacks, frames, funcs = shared["stackTable"], shared["frameTable"], shared["funcTable"]

    def within(values, n, what):
        need(all(v is None or -1 <= v < n for v in values), what)
    within(stacks["frame"], frames["length"], "a stack's frame")
    need(all(p is None or 0 <= p < i for i, p in enumerate(stacks["prefix"])),
         "a stack before its prefix")
    within(frames["func"], funcs["length"], "a frame's function")
    within(frames["category"], len(meta["categories"]), "a frame's category")
    within(funcs["name"], len(strings), "a function's name")
    within(funcs["resource"], shared["resourceTable"]["length"], "a function's resource")
    within(funcs["source"], shared["sources"]["length"], "a function's source")
    within(shared["sources"]["filename"], len(strings), "a source's name")
    within(shared["resourceTable"]["lib"], len(top["libs"]), "a resource's library")
    for lib in top["libs"]:
        need(re.fullmatch("[0-9A-F]{33}", lib["breakpadId"]), "breakpadId")
    names = []
    for frame, prefix in zip(stacks["frame"], stacks["prefix"]):
        name = strings[funcs["name"][frames["func"][frame]]]
        names.append((names[prefix] if prefix is not None else []) + [name])
    columns, values = [], {}
    for i, thread in enumerate(top["threads"]):
        samples = thread["samples"]
        need(all(len(samples[c]) == samples["length"] for c in ("stack", "weight", "time")),
             "a thread's samples")
        is_time = samples["weightType"] == "tracing-ms"
        columns.append("time" if is_time else column_of(thread["name"]))
        for stack, weight in zip(samples["stack"], samples["weight"]):
            need(0 <= stack < stacks["length"], "a sample's stack")
            values.setdefault(stack, [0] * len(top["threads"]))[i] += \
                weight * 1e6 if is_time else weight
    return columns, [(names[s], v, {}) for s, v in values.items()]


# callgrind: costs of functions, without those of what they call.

def read_callgrind(path):
    names, at, columns, samples, totals = {}, {}, None, [], None
    skip = False
    with open(path, encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if re.match(r"events: ", line):
                columns = ["time" if c == "time_ns" else c for c in line.split()[1:]]
            elif re.match(r"totals: ", line):
                totals = [int(v) for v in line.split()[1:]]
            elif m := re.fullmatch(r"(c?ob|fl|fi|fe|cfi|fn|cfn)=\((\d+)\)( (.+))?", line):
                space = {"cob": "ob", "fi": "fl", "fe": "fl", "cfi": "fl", "cfn": "fn"}
                key = (space.get(m[1], m[1]), m[2])
                if m[4]:
                    need(key not in names, "a name twice: " + line)
                    names[key] = m[4]
                need(key in names, "a name that is not known: " + line)
                at[m[1]] = names[key]
            elif re.fullmatch(r"calls=\d+ 0x[0-9a-f]+ \d+", line):
                skip = True
            elif m := re.fullmatch(r"0x[0-9a-f]+ \d+(( \d+)+)", line):
                values = [int(v) for v in m[1].split()]
                need(len(values) == len(columns), "costs: " + line)
                if not skip:
                    samples.append(([at["fn"]], values, {}))
                skip = False
            else:
                need(not line or re.match(r"(#|(version|creator|cmd|positions): ?)", line),
                     "not a line: " + line)
    need(totals == [sum(s[1][i] for s in samples) for i in range(len(columns))], "totals")
    return columns, samples


def read_prof(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    events = [k[8:] for k in (rows[0] if rows else {}) if k.startswith("samples:")]
    return events + ["time"], [
        ([row["procedure"]],
         [int(row["samples:" + e]) for e in events] + [float(row["time_ns"] or 0)], {})
        for row in rows]


def text(v):
    return str(round(v))


def print_shares(kind, path):
    if kind == "prof":
        with open(path, encoding="utf-8", errors="replace", newline="") as f:
            shares = [(r["procedure"], float(r["percent"])) for r in csv.DictReader(f)]
    else:
        samples = globals()["read_" + kind](path)[1]
        total = sum(s[1][-1] for s in samples)
        sums = Counter()
        for stack, values, _ in samples:
            sums[stack[-1]] += values[-1]
        shares = [(name, 100 * n / total) for name, n in sums.items()]
    for name, share in sorted(shares):
        print(name, "%.2f" % share)


def main():
    kind, path, what = sys.argv[1], sys.argv[2], sys.argv[3]
    if what == "shares":
        print_shares(kind, path)
        return
    columns, samples = globals()["read_" + kind](path)
    if what == "totals":
        for i, column in enumerate(columns):
            print(column, text(sum(s[1][i] for s in samples)))
        return
    sums = Counter()
    for stack, values, labels in samples:
        key = ";".join(stack) if what == "stacks" else \
            " ".join("%s=%s" % label for label in sorted(labels.items()))
        for i, value in enumerate(values):
            sums[key, i] += value
    for key in sorted({k for k, _ in sums}):
        print(*[text(sums[key, i]) for i in range(len(columns))], key)


main()
