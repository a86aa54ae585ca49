# SPDX-License-Identifier: GPL-2.0-or-later
"""operands_look.py values VALUES EXPRESSION - the value of an expression about operands
operands_look.py find DATABASE KEY - where the bytes of a number of 64 bits are, if they are

VALUES is JSON of cpi values. The expression may use: r, the JSON; of(kind): the operands
of that kind; top(kind): the most frequent value, and its share, of the operand of that
kind with the most executions.
"""
import json
import sqlite3
import subprocess
import sys


def look(file, expression):
    r = json.load(open(file))

    def of(kind):
        return [o for o in r["operands"] if o["kind"] == kind]

    def top(kind):
        o = max(of(kind), key=lambda o: o["executions"])
        return (o["values"][0]["value"], o["values"][0]["share"]) if o["values"] else None

    print(eval(expression, {"r": r, "of": of, "top": top}))


def leb128(n):
    out = bytearray()
    while True:
        out.append(n & 127 | (128 if n > 127 else 0))
        n >>= 7
        if not n:
            return bytes(out)


def patterns(key):
    """All ways in which it might be written."""
    words = {key, ~key & (1 << 64) - 1, -key & (1 << 64) - 1}
    for w in words:
        yield from (w.to_bytes(8, "little"), w.to_bytes(8, "big"), b"%016x" % w, b"%d" % w)
        signed = w - (1 << 64) if w >> 63 else w
        folded = signed * 2 if signed >= 0 else -signed * 2 - 1
        yield from (leb128(w)[:9], leb128(folded & (1 << 64) - 1)[:9])


def blobs(path):
    """The file, and what its blobs are when they are unpacked."""
    yield "the file", open(path, "rb").read()
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    names = [n for n, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in names:
        for row in db.execute('SELECT * FROM "%s"' % name):
            for cell in row:
                if isinstance(cell, bytes) and cell[:1] == b"\1":
                    out = subprocess.run(["zstd", "-dqc"], input=cell[1:], capture_output=True)
                    yield name, out.stdout


def find(path, key):
    wanted = list(patterns(int(key, 16)))
    print(sorted({where for where, data in blobs(path) for p in wanted if p in data}))


if sys.argv[1] == "find":
    find(*sys.argv[2:])
else:
    look(*sys.argv[2:])
