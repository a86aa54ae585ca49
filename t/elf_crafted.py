# SPDX-License-Identifier: GPL-2.0-or-later
"""Maps and runs code of hostile ELF files, which it writes into the current folder.

The files are vast, have a thousand program headers, or say that they have contents beyond
their end. The code is for x86-64.
"""
import ctypes
import mmap
import struct

LOOP = b"\xb9\x00\x00\x00\x08\xff\xc9\x75\xfc\xc3"  # 2^27 turns, some 50 ms


def run(path, phdrs, size):
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(phdrs), 0, 0, 0)
    with open(path, "wb") as f:
        f.write(header + b"".join(struct.pack("<IIQQQQQQ", *p) for p in phdrs))
        f.seek(1 << 20)
        f.write(LOOP)
        f.truncate(size)
    with open(path, "rb") as f:
        m = mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE,
                      mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC, offset=1 << 20)
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    for _ in range(3):
        ctypes.CFUNCTYPE(None)(at)()


def load(offset, size):
    return (1, 5, offset, 0, 0, size, size, 4096)


run("vast", [load(0, (1 << 30) - 4096)], 1 << 30)
run("vaster", [load(0, 1 << 62)], 1 << 40)
run("many", [load(0, 1 << 20)] * 1000, 2 << 20)
run("beyond", [load(1 << 40, 1 << 20), (4, 4, (1 << 63) - 8, 0, 0, 1 << 62, 0, 4)], 2 << 20)
