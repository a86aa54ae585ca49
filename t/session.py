# SPDX-License-Identifier: GPL-2.0-or-later
"""session - runs a program, and leaves none of its processes; for inject and unit_link

A unit test runs each of its cases in a process group of its own, and strace detaches from
what it traces when it is killed. All of them stay in one session.
"""

import os
import select
import signal
import subprocess
import sys
import time


def end_on_term():
    """SIGTERM ends this program as an exception does: run() still ends the session."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def members_of(session):
    """The processes of a session that still run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as text:
                state, _, _, of = text.read().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of) == session and state not in "ZX":
            found.append(int(pid))
    return found


def kill_session(session):
    """Kills all processes of a session, also those that they start meanwhile."""
    while members := members_of(session):
        for pid in members:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def run(argv, limit_s, **options):
    """Runs it in a new session. Returns its status; None if it takes longer."""
    child = subprocess.Popen(  # pylint: disable=consider-using-with
        argv, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    ended = []
    try:
        end = os.pidfd_open(child.pid)
        try:
            wait = select.poll()
            wait.register(end, select.POLLIN)
            ended = wait.poll(limit_s * 1000)
        finally:
            os.close(end)
    finally:
        kill_session(child.pid)  # which the child's id names until it is waited for
        status = child.wait()
    return status if ended else None
