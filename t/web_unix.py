# SPDX-License-Identifier: GPL-2.0-or-later
"""web_unix.py - asks cpi-web through a local socket, or starts it with one

usage: web_unix.py get SOCKET PATH       the status and the body
       web_unix.py serve SOCKET COMMAND...   runs the command as systemd would
       web_unix.py both SOCKET COMMAND...    the same, with a port of 127.0.0.1 as well
"""
import os
import socket
import sys

s = socket.socket(socket.AF_UNIX)
if sys.argv[1] != "get":
    s.bind(sys.argv[2])
    s.listen(16)
    handed = [s]
    if sys.argv[1] == "both":
        handed.append(socket.create_server(("127.0.0.1", 0)))
    copies = [os.dup(one.fileno()) for one in handed]
    for number, copy in enumerate(copies, 3):
        os.dup2(copy, number)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(handed)))
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
