# SPDX-License-Identifier: GPL-2.0-or-later
"""web_keeps.py - two requests on one connection, the second when the file "go" is there

usage: web_keeps.py URL CA CERTIFICATE KEY

Prints the status of each and what the server says of the connection.
"""
import http.client
import os
import ssl
import sys
import time
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
context = ssl.create_default_context(cafile=sys.argv[2])
context.load_cert_chain(sys.argv[3], sys.argv[4])
connection = http.client.HTTPSConnection(url.hostname, url.port, context=context, timeout=60)
for turn in range(2):
    while turn and not os.path.exists("go"):
        time.sleep(0.02)
    connection.request("GET", url.path)
    answer = connection.getresponse()
    answer.read()
    print(answer.status, (answer.getheader("Connection") or "keep-alive").lower(), flush=True)
