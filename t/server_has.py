# SPDX-License-Identifier: GPL-2.0-or-later
"""server_has.py PID SERVER PATH...: waits until SERVER has all paths; fails if process PID ends."""
import sys, time, urllib.error, urllib.parse, urllib.request

def has(path):
    url = sys.argv[2] + urllib.parse.quote(path)
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False

def has_ended(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True

end = time.monotonic() + 300
while not all(has(path) for path in sys.argv[3:]):
    if time.monotonic() > end or has_ended(sys.argv[1]):
        sys.exit("the server does not have it")
    time.sleep(0.05)
