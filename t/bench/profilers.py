# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts profilers, says when they sample, ends them, and reads what they have.

A profiler is ready when its process is yielded: cpid and perf say so themselves, the
others have their events open by then.
"""

import collections
import contextlib
import json
import os
import select
import socket
import struct
import subprocess
import time

PATIENCE_S = 300  # to start, or to end: far more than it takes
POLL_S = 0.005
STATUS = struct.pack("=IHH64s", 0x31697063, 1, 1, b"")  # abi/control.h
REPLY = struct.Struct("=IHHiI")


class Failure(Exception):
    """What went wrong, for the person at the terminal."""


class Refused(Failure):
    """A profiler ended instead of starting."""


def first_of(process, seconds, *sources):
    """Waits until a source can be read or the process ends; returns which, or None."""
    pid = os.pidfd_open(process.pid)
    try:
        ready, _, _ = select.select([*sources, pid], [], [], seconds)
    finally:
        os.close(pid)
    if not ready:
        return None
    return process if ready[0] == pid else ready[0]


def await_readable(what, process, source):
    """Waits until source can be read, or the process has ended without that."""
    if first_of(process, PATIENCE_S, source) is not source:
        raise Refused(f"{what} does not start")


def used_cpu_s(pid):
    """All threads' time so far, to the nanosecond: clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)


def fields_of(path):
    with open(path, encoding="ascii", errors="replace") as f:
        return dict(line.split(":", 1) for line in f)


def written_kib(pid):
    """What it made the file system write so far."""
    return int(fields_of(f"/proc/{pid}/io")["write_bytes"]) / 1024


def resident_mib(pid, what):
    return int(fields_of(f"/proc/{pid}/status")[what].split()[0]) / 1024


def stop(what, process, number):
    """Ends a process; returns what it used in all, its children included."""
    process.send_signal(number)
    if first_of(process, PATIENCE_S) is not process:
        raise Failure(f"{what} does not end")
    written = written_kib(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, -number):
        raise Failure(f"{what} ended with status {process.returncode}")
    return {
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "rss_mib": usage.ru_maxrss / 1024,
        "written_kib": written,
    }


@contextlib.contextmanager
def started(command, **options):
    """A process that does not outlive the block."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()


@contextlib.contextmanager
def cpid_ready(command, folder, **options):
    """cpid, from when it says that it samples; its database is in folder."""
    notify = os.path.join(folder, "notify")
    command = command + ["--db", os.path.join(folder, "cpi.db"),
                         "--socket", os.path.join(folder, "socket")]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(notify)
        with started(command, env=dict(os.environ, NOTIFY_SOCKET=notify),
                     **options) as process:
            lines = []
            while b"READY=1" not in lines:
                await_readable("cpid", process, manager)
                lines = manager.recv(4096).split(b"\n")
            yield process


def ask_status(folder):
    """Asks the cpid whose socket is in the folder."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(PATIENCE_S)
        s.connect(os.path.join(folder, "socket"))
        s.sendall(STATUS)
        text = s.recv(1 << 17)[REPLY.size:].decode("utf-8", "replace")
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


@contextlib.contextmanager
def perf_ready(command, folder, **options):
    """perf record, from when it says that its events are enabled, into perf.data."""
    control_out, control = os.pipe()
    answer, answer_in = os.pipe()
    command = command + ["--quiet", "--all-cpus", "--delay=-1",
                         "--output", os.path.join(folder, "perf.data"),
                         f"--control=fd:{control_out},{answer_in}"]
    try:
        with started(command, pass_fds=(control_out, answer_in), **options) as process:
            os.write(control, b"enable\n")
            await_readable("perf record", process, answer)
            yield process  # which would end were its pipes closed
    finally:
        for fd in (control_out, control, answer, answer_in):
            os.close(fd)


def nr_perf_events(pid):
    """How many perf events a process has open."""
    nr = 0
    folder = f"/proc/{pid}/fd"
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            nr += "perf_event" in os.readlink(os.path.join(folder, name))
    return nr


@contextlib.contextmanager
def tracer_ready(command, _, **options):
    """A program that tells nobody that it samples: its events on all CPUs are open."""
    with started(command, **options) as process:
        end = time.monotonic() + PATIENCE_S
        while nr_perf_events(process.pid) < os.cpu_count():
            if first_of(process, POLL_S) is process or time.monotonic() > end:
                raise Refused(f"{command[0]} does not start")
        yield process


def database_bytes(folder):
    paths = (os.path.join(folder, "cpi.db" + end) for end in ("", "-wal"))
    return sum(os.path.getsize(p) for p in paths if os.path.exists(p))


def read_profile(cpi, folder):
    """What the database says of its samples."""
    text = subprocess.run(
        [cpi, "prof", "--db", os.path.join(folder, "cpi.db"), "--by=image",
         "--epoch=all", "--format=json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    profile = json.loads(text)
    streams = collections.Counter()
    for stream in profile["streams"]:
        streams[stream["event"]] += stream["total"]
    samples = sum(streams.values())
    unknown = profile["unknown"]
    return {
        "samples": samples,
        "streams": streams,
        "lost": sum(profile["losses"].values()),
        "unknown_percent": 100 * sum(unknown.values()) / max(samples, 1),
        "unknown": unknown,
        "ambiguous_percent": 100 * unknown.get("ambiguous", 0) / max(samples, 1),
    }


SAMPLE, LOST, LOST_SAMPLES = 9, 2, 13  # <linux/perf_event.h>


def count_perf(path):
    """Samples in perf.data, and samples that its records say were lost.

    perf report refuses a file with records of a newer kernel's.
    """
    counts = {"samples": 0, "lost": 0}
    with open(path, "rb") as f:
        data = f.read()
    if data[:8] != b"PERFILE2" or len(data) < 56:
        raise Failure(f"{path} is no perf.data")
    at, size = struct.unpack_from("=QQ", data, 40)
    end = min(at + size, len(data))
    while at + 8 <= end:
        kind, _, size = struct.unpack_from("=IHH", data, at)
        if size < {LOST: 24, LOST_SAMPLES: 16}.get(kind, 8) or at + size > end:
            raise Failure(f"{path} is damaged")
        if kind == SAMPLE:
            counts["samples"] += 1
        elif kind in (LOST, LOST_SAMPLES):  # the number is behind an id, or first
            number = at + (16 if kind == LOST else 8)
            counts["lost"] += struct.unpack_from("=Q", data, number)[0]
        at += size
    return counts
