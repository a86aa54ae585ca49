# SPDX-License-Identifier: GPL-2.0-or-later
"""web_unix.py - asks cpi-web through a local socket, or starts it with one

usage: web_unix.py get SOCKET PATH       the status and the body
       web_unix.py serve SOCKET COMMAND...   runs the command as systemd would
"""
import os
import socket
import sys

s = socket.socket(socket.AF_UNIX)
if sys.argv[1] == "serve":
    s.bind(sys.argv[2])
    s.listen(16)
    os.dup2(s.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
    os.execvp(sys.argv[3], sys.argv[3:])
s.connect(sys.argv[2])
s.sendall(f"GET {sys.argv[3]} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
got = b""
while piece := s.recv(65536):
    got += piece
head, _, body = got.partition(b"\r\n\r\n")
print(head.split(b" ")[1].decode())
sys.stdout.flush()
sys.stdout.buffer.write(body)
