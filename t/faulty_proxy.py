#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# faulty_proxy.py - passes HTTP requests on to a store, and fails some of them
#
#	faulty_proxy.py PORT SEED PERCENT [TEXT SECONDS]
#
# Prints its own port. Of PERCENT of the requests, half are cut before the store has them,
# half after it has answered: the client cannot tell which. Statements that
# have TEXT are answered SECONDS late. Ends with its standard input.
import http.client
import http.server
import random
import socket
import sys
import threading
import time

port, seed, percent = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
slow, late_s = (sys.argv[4].encode(), float(sys.argv[5])) if len(sys.argv) > 4 else (None, 0)
chance = random.Random(seed)
lock = threading.Lock()
counts = {"passed": 0, "before": 0, "after": 0}


def draw():
    with lock:
        fault = "passed"
        if chance.randrange(100) < percent:
            fault = chance.choice(("before", "after"))
        counts[fault] += 1
        return fault


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def cut(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = draw()
        if fault == "before":
            return self.cut()
        if slow and slow in body:
            time.sleep(late_s)
        store = http.client.HTTPConnection("127.0.0.1", port)
        keep = ("content-encoding", "authorization", "content-type")
        headers = {k: v for k, v in self.headers.items() if k.lower() in keep}
        try:
            store.request("POST", self.path, body, headers)
            answer = store.getresponse()
            data = answer.read()
        except OSError:
            return self.cut()
        if fault == "after":
            return self.cut()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
print(counts["passed"], counts["before"], counts["after"], flush=True)
