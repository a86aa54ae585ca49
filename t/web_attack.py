# SPDX-License-Identifier: GPL-2.0-or-later
"""web_attack.py - one attack on cpi-web, by its name: exits 0 if it fails as it should

usage: web_attack.py NAME URL [PID KIB]: the server, and by how much it may grow
"""
import glob
import gzip
import http.client
import json
import re
import resource
import socket
import sys
import time
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[2])
host = f"127.0.0.1:{url.port}"
folder = url.path
SECURITY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


def connect():
    return socket.create_connection(("127.0.0.1", url.port), timeout=60)


def raw(data):
    """Sends bytes as they are; everything that comes until the connection ends."""
    s = connect()
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it was closed already
    got = b""
    try:
        while piece := s.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    s.close()
    return got


def ask(path, method="GET", headers=()):
    c = http.client.HTTPConnection("127.0.0.1", url.port, timeout=60)
    c.putrequest(method, path, skip_host=any(h == "Host" for h, _ in headers),
                 skip_accept_encoding=True)
    for name, value in headers:
        c.putheader(name, value)
    c.endheaders()
    r = c.getresponse()
    r.body = r.read()
    return r


def secured(r):
    for name, value in SECURITY.items():
        assert r.headers.get_all(name) == [value], (r.status, name, r.headers.get_all(name))


def status_of(data):
    return int(data.split(b" ", 2)[1])


def headers():
    """Every kind of answer has the headers."""
    tag = ask(folder).headers["ETag"]
    for want, path, method, head in [
        (200, folder, "GET", []), (200, folder, "HEAD", []),
        (304, folder, "GET", [("If-None-Match", tag)]),
        (206, folder, "GET", [("Range", "bytes=0-9")]),
        (416, folder, "GET", [("Range", "bytes=9999999-")]),
        (200, folder + "api/v1/epochs", "GET", []), (200, folder + "api/v1/", "GET", []),
        (308, folder[:-1], "GET", []), (400, folder + "?x=%", "GET", []),
        (400, folder + "api/v1/prof?by=x", "GET", []), (404, "/", "GET", []),
        (404, folder + "x", "GET", []), (404, folder + "api/v1/x", "GET", []),
        (405, folder, "POST", []), (421, folder, "GET", [("Host", "evil.example")]),
        (403, folder, "GET", [("Sec-Fetch-Site", "cross-site")]),
        (414, folder + "?" + "x" * 9000, "GET", []),
        (422, folder + "api/v1/prof?epoch=none", "GET", []),
        (200, folder + "metrics", "GET", []), (200, folder + "-/healthy", "GET", []),
    ]:
        r = ask(path, method, head)
        assert r.status == want, (r.status, want, path, method, head)
        secured(r)


def rebinding():
    for name in ("evil.example", f"evil.example:{url.port}", "127.0.0.1", "localhost:1",
                 f"localhost.evil.example:{url.port}", f"127.0.0.1.nip.io:{url.port}",
                 f"0.0.0.0:{url.port}", f"x@127.0.0.1:{url.port}"):
        assert ask(folder, headers=[("Host", name)]).status == 421, name
    for name in (host, f"localhost:{url.port}", f"[::1]:{url.port}"):
        assert ask(folder, headers=[("Host", name)]).status == 200, name
    get = b"GET " + folder.encode() + b" HTTP/1.1\r\n"
    assert status_of(raw(get + b"\r\n")) == 400
    assert status_of(raw(get + f"Host: {host}\r\nHost: {host}\r\n\r\n".encode())) == 400
    assert status_of(raw(b"GET http://evil.example" + folder.encode() + b" HTTP/1.1\r\n"
                         + f"Host: {host}\r\n\r\n".encode())) == 400
    assert status_of(raw(b"GET " + folder.encode() + b" HTTP/1.0\r\n\r\n")) == 400


def methods():
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"):
        r = ask(folder + "api/v1/prof", method)
        assert (r.status, r.headers["Allow"]) == (405, "GET, HEAD"), (method, r.status)


def cross_site():
    for site in ("cross-site", "same-site"):
        for dest in ("empty", "script", "image", "iframe", "object", "style"):
            r = ask(folder + "api/v1/prof", headers=[("Sec-Fetch-Site", site),
                                                     ("Sec-Fetch-Dest", dest)])
            assert r.status == 403, (site, dest, r.status)
    link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "document")]
    assert ask(folder, headers=link).status == 200
    own = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Dest", "script")]
    assert ask(folder, headers=own).status == 200
    r = ask(folder, headers=[("Origin", "http://evil.example")])
    assert not [h for h in r.headers if h.lower().startswith("access-control")]


def tokens():
    token = folder.strip("/")
    other = ("0" if token[0] != "0" else "1") + token[1:]
    last = token[:-1] + ("0" if token[-1] != "0" else "1")
    seen = set()
    for path in ("/", "/x", "/api/v1/prof", f"/{other}/", f"/{last}/", f"/{token[:-1]}/",
                 f"/{token}0/", f"/{token.upper() if token.upper() != token else 'x'}/",
                 f"//{token}/", f"/./{token}/", f"/x/{token}/", f"/{other}", "/metrics",
                 f"/%{ord(token[0]):02x}{token[1:]}/", f"/{other}/api/v1/prof?by=x",
                 f"/?{token}", f"/{token};x/"):
        r = ask(path)
        seen.add((r.status, r.body, tuple(sorted((k, v) for k, v in r.headers.items()
                                                 if k != "Date"))))
    assert len(seen) == 1 and next(iter(seen))[0] == 404, seen


def traversal():
    for path in ("../../etc/passwd", "..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/etc/passwd",
                 "/etc/passwd", "..\\..\\etc\\passwd", "page/index.html", "./index.html",
                 "index.html/", "index.html%00", "api/v1/../prof", "api/v1/../../metrics",
                 "api/v1//etc/passwd", "api/v1/prof/", "api/v1/prof/..", "api//v1/prof",
                 "API/v1/prof", "-/", "-/x"):
        r = ask(folder + path)
        assert r.status == 404, (path, r.status)
    for query in ("db=/etc/passwd", "output=/tmp/x", "svg=/tmp/x", "debug-dir=/", "socket=x"):
        r = ask(folder + "api/v1/prof?" + query)
        assert r.status == 400, (query, r.status)
    r = ask(folder + "api/v1/list?procedure=--output%3D/tmp/x")
    assert r.status in (400, 422) and b"no option" not in r.body, r.body


def smuggling():
    get = f"GET {folder}-/healthy HTTP/1.1\r\nHost: {host}\r\n"
    inner = get + "\r\n"
    for head, body in [
        ("Content-Length: %d\r\n" % len(inner), inner),
        ("Content-Length: 3\r\nContent-Length: 0\r\n", "abc" + inner),
        ("Transfer-Encoding: chunked\r\n", "0\r\n\r\n" + inner),
        ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n" + inner),
        ("Transfer-Encoding: xchunked\r\n", inner),
        ("Content-Length: -1\r\n", inner),
        ("Content-Length: 0x10\r\n", inner),
        ("Content-Length : 3\r\n", "abc" + inner),
        ("X: a\r\n Content-Length: 3\r\nContent-Length: 99999999999999999999\r\n", inner),
    ]:
        got = raw((get + head + "\r\n" + body).encode())
        answers = re.findall(rb"HTTP/1\.1 (\d+)", got)
        # The library may say its refusal twice (0.9.75).
        assert answers and min(answers) >= b"400", (head, got)
    both = raw((inner + inner).encode())
    assert both.count(b"HTTP/1.1 200") == 2, both  # what is right is answered twice


def oversize():
    for data in (f"GET {folder}?{'x' * 20000} HTTP/1.1\r\nHost: {host}\r\n\r\n",
                 f"GET {folder}{'x' * 1000000} HTTP/1.1\r\nHost: {host}\r\n\r\n",
                 f"GET {folder} HTTP/1.1\r\nHost: {host}\r\nX: {'x' * 1000000}\r\n\r\n",
                 f"GET {folder} HTTP/1.1\r\nHost: {host}\r\n" + "X: y\r\n" * 10000 + "\r\n",
                 "x" * 1000000, "\r\n" * 100000, "\0" * 100000):
        got = raw(data.encode())
        assert b"HTTP/1.1 200" not in got, (data[:80], got[:80])
    args = "&".join(["by=image"] * 65)
    assert ask(folder + "api/v1/prof?" + args).status == 400


def memory_kib(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])


def metric(name):
    r = ask(folder + "metrics")
    return float(re.search(rf"^{name} (\S+)$", r.body.decode(), re.M)[1])


def slow():
    """Half requests: those who ask whole ones are answered meanwhile."""
    wanted = 10000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted + 100), hard))
    nr = min(wanted, min(hard, wanted + 100) - 100)
    half = f"GET {folder} HTTP/1.1\r\nHost: {host}\r\nX: ".encode()
    before = memory_kib(sys.argv[3])
    all_of_them = []
    for i in range(nr):
        s = connect()
        try:
            s.sendall(half)
        except OSError:
            pass
        all_of_them.append(s)
        if i % 1000 == 999:
            assert ask(folder).status == 200
    assert metric("cpi_web_connections") <= 520, metric("cpi_web_connections")
    assert metric("cpi_web_connections_dropped_total") >= nr - 512
    grown = memory_kib(sys.argv[3]) - before
    assert grown < int(sys.argv[4]), grown
    print(f"{nr} connections, {grown} KiB more")
    for s in all_of_them:
        s.close()


def hostile():
    """A name with markup, marks of direction and 3000 digits is one JSON string."""
    r = ask(folder + "api/v1/prof?by=image&epoch=all")
    assert r.status == 200, r.body[:200]
    names = [row["image"] for row in json.loads(r.body)["rows"]]
    evil = [n for n in names if "<script>" in n]
    assert len(evil) == 1 and len(evil[0]) > 3000 and "\u202e" in evil[0], len(names)
    assert "\u202e".encode() not in r.body and b"\x1b" not in r.body
    assert r.headers["Content-Type"] == "application/json"


def conditions():
    """Compressed, in parts, or not at all: it is the same answer."""
    path = folder + "api/v1/prof?epoch=all"
    plain = ask(path)
    packed = ask(path, headers=[("Accept-Encoding", "br, gzip")])
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["ETag"] != plain.headers["ETag"]
    head = ask(path, "HEAD")
    assert head.body == b"" and head.headers["Content-Length"] == str(len(plain.body))
    for r in (plain, packed):
        again = ask(path, headers=[("If-None-Match", f'"x", {r.headers["ETag"]}')])
        assert (again.status, again.body) == (304, b""), again.status
    assert ask(path, headers=[("If-None-Match", '"x"')]).status == 200
    half = len(plain.body) // 2
    first = ask(path, headers=[("Range", f"bytes=0-{half - 1}")])
    last = ask(path, headers=[("Range", f"bytes={half}-"), ("Accept-Encoding", "gzip"),
                              ("If-Range", plain.headers["ETag"])])
    assert (first.status, last.status) == (206, 206)
    assert first.body + last.body == plain.body
    assert last.headers["Content-Range"] == f"bytes {half}-{len(plain.body) - 1}/{len(plain.body)}"
    assert ask(path, headers=[("Range", "bytes=0-9"), ("If-Range", '"x"')]).status == 200
    assert ask(path, headers=[("Range", f"bytes={len(plain.body)}-")]).status == 416


def left():
    """The processes of reports whose command line has the mark 98765."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if b"98765" in words:
            found.append(path)
    return found


def leaving():
    """The report of a client that goes away ends, with all that it has started."""
    s = connect()
    s.sendall(f"GET {folder}api/v1/prof HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    while metric("cpi_web_reports_running") != 1 or len(left()) != 2:
        time.sleep(0.01)
    s.close()
    while metric("cpi_web_reports_running") != 0 or left():
        time.sleep(0.01)
    assert metric("cpi_web_reports_cancelled_total") == 1


def behind():
    """What a report has started and left running ends with it; its result is told."""
    for i in range(20):
        r = ask(folder + f"api/v1/prof?limit={i}")
        assert r.status == 200 and r.body.startswith(b"done\n"), (r.status, r.body[:80])
        while left():
            time.sleep(0.01)


def late():
    """A report that prints too much with its last words is too large, and the server lives."""
    for i in range(10):
        r = ask(folder + f"api/v1/prof?limit={i}")
        assert r.status == 500 and b"too large" in r.body, (r.status, r.body[:80])
        while left():
            time.sleep(0.01)


def crowd():
    """Two run, 64 wait, the next one is told to come again."""
    waiting = []
    for i in range(66):
        s = connect()
        s.sendall(f"GET {folder}api/v1/prof?limit={i} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        waiting.append(s)
    while metric("cpi_web_reports_queued") != 64:
        time.sleep(0.01)
    r = ask(folder + "api/v1/prof?limit=66")
    assert (r.status, r.headers["Retry-After"]) == (503, "1"), r.status
    secured(r)
    assert ask(folder + "-/healthy").status == 200
    for s in waiting:
        s.close()
    while metric("cpi_web_reports_queued") + metric("cpi_web_reports_running") != 0:
        time.sleep(0.01)


globals()[sys.argv[1]]()
