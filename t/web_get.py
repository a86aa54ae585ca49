# SPDX-License-Identifier: GPL-2.0-or-later
"""web_get.py - one request: the body to stdout, status and headers to web.head

usage: web_get.py URL PATH [METHOD] [NAME:VALUE]...

PATH is relative to URL's folder, or begins with a slash. Nothing is decoded.
"""
import http.client
import sys
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
path = sys.argv[2]
headers = {}
method = "GET"
for arg in sys.argv[3:]:
    name, colon, value = arg.partition(":")
    if colon:
        headers[name] = value
    else:
        method = arg
if not path.startswith("/"):
    path = url.path + path
connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
for name, value in headers.items():
    connection.putheader(name, value)
connection.endheaders()
answer = connection.getresponse()
with open("web.head", "w") as head:
    print(answer.status, file=head)
    for name, value in answer.getheaders():
        print(f"{name}: {value}", file=head)
sys.stdout.buffer.write(answer.read())
