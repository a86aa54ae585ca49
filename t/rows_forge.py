#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes the content of a file that reports keep, and makes its sum right again.

usage: rows_forge.py FILE SEED

The layout is that of report/cache/cachefile.c: a header whose last word is the sum
(hash_bytes() of base/hash.h) of the content behind it.
"""

import random
import struct
import sys

HEADER = 312
WORD = (1 << 64) - 1


def hash_u64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def hash_bytes(data):
    h = len(data) * 0x9E3779B97F4A7C15 & WORD
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        h = hash_u64(h ^ word)
    return hash_u64(h ^ int.from_bytes(data[whole:], "little"))


def main(path, seed):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    content = data[HEADER:]
    assert hash_bytes(content) == struct.unpack_from("<Q", data, HEADER - 8)[0]
    draw = random.Random(seed)
    if draw.random() < 0.2:
        content = content[:draw.randrange(len(content))]
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(content) + 1)
        size = draw.choice((1, 4, 8))
        content[at:at + size] = draw.choice(
            (bytes(size), b"\xff" * size, draw.randbytes(size)))[:len(content) - at]
    data[HEADER - 8:] = struct.pack("<Q", hash_bytes(content)) + content
    with open(path, "wb") as file:
        file.write(data)


main(sys.argv[1], int(sys.argv[2]))
