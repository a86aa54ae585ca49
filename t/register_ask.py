# SPDX-License-Identifier: GPL-2.0-or-later
"""register_ask.py SOCKET PATH TEXT FILE... - registers memory with TEXT as contents of PATH

Prints the status of the answer for each FILE, which is the number of a descriptor, a file
to open, or path:FILE, which is opened without the right to read.
"""
import ctypes
import mmap
import os
import socket
import struct
import sys

path, text = sys.argv[2], sys.argv[3].encode()
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC,
                   flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory[:len(text)] = text
base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for file in sys.argv[4:]:
    if file.startswith("path:"):
        fd = os.open(file[5:], os.O_PATH)
    else:
        fd = int(file) if file.lstrip("-").isdigit() else os.open(file, os.O_RDONLY)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.send(struct.pack("<IHH64siiQQQ1024s", 0x31697063, 1, 6, b"", os.getpid(), fd, base,
                       len(text), 0, path.encode()))
    print(struct.unpack_from("<i", s.recv(70000), 8)[0], end=" ")
print()
