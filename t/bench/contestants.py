# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is compared by overhead: how each is started, ended, and what it tells.

Words of a command may have {cpid}, {perf}, {event}, {hz} and {folder}, a scratch folder.
"""

import collections
import os
import platform
import re
import signal
import subprocess

from profilers import (count_perf, cpid_ready, database_bytes, perf_ready, read_profile,
                       tracer_ready)

# prepare: what is done before its figures begin. before, after: figures, of what it says
# of itself before its end, and of what it leaves. All are given the options and the folder.
Contestant = collections.namedtuple("Contestant",
                                    "command ready signal prepare before after hint")


def flush_cpid(options, folder):
    """A database begins with the kernel's symbols, and all that runs."""
    subprocess.run([options.cpi, "flush", "--socket", os.path.join(folder, "socket")],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ask_cpid(options, folder):
    """How it samples, of its status."""
    text = subprocess.run(
        [options.cpi, "status", "--socket", os.path.join(folder, "socket"),
         "--db", os.path.join(folder, "cpi.db"), "--format=csv"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return dict(re.findall(r"^daemon,(collector|rate_hz|interrupt_cost_ns),(.*)$", text,
                           re.MULTILINE))


def after_cpid(options, folder):
    figures = read_profile(options.cpi, folder)
    figures["stored_kib"] = database_bytes(folder) / 1024
    return figures


def after_perf(_, folder):
    data = os.path.join(folder, "perf.data")
    return dict(count_perf(data), stored_kib=os.path.getsize(data) / 1024)


def after_counts(_, folder):
    """A number at the end of each line: of a key of bpftrace's map, of bcc's folded stack."""
    path = os.path.join(folder, "output")
    with open(path, encoding="utf-8", errors="replace") as f:
        counts = re.findall(r" (\d+)$", f.read(), re.MULTILINE)
    return {"samples": sum(map(int, counts)), "entries": len(counts),
            "stored_kib": os.path.getsize(path) / 1024}


def after_capture(_, folder):
    return {"stored_kib": os.path.getsize(os.path.join(folder, "capture")) / 1024}


def nothing(*_):
    return {}


def cpid(*words):
    return Contestant(("{cpid}",) + words, cpid_ready, signal.SIGTERM, flush_cpid, ask_cpid,
                      after_cpid, None)


def tracer(*words, after, hint=None):
    return Contestant(words, tracer_ready, signal.SIGINT, nothing, nothing, after, hint)


PC = {"x86_64": "ip", "aarch64": "pc"}.get(platform.machine(), "pc")
AT_RATE = ("--event={event}", "--freq={hz}")

CONTESTANTS = {
    "base": None,
    "cpid": cpid(),
    "cpid-perf": cpid("--collector=perf", "--windows=off", *AT_RATE),
    "cpid-bpf": cpid("--collector=bpf", "--windows=off", *AT_RATE),
    "cpid-stacks": cpid("--collector=bpf", "--windows=off", "--stacks=fp", *AT_RATE),
    "cpid-windows": cpid("--collector=bpf", "--windows=100", *AT_RATE),
    "cpid-ticks": cpid("--collector=bpf", "--windows=off", "--event=ticks"),
    "perf": Contestant(("{perf}", "record") + AT_RATE, perf_ready, signal.SIGINT, nothing,
                       nothing, after_perf, None),
    "bpftrace": tracer("bpftrace", "-e",
                       'profile:hz:{hz} {{ @[pid, reg("' + PC + '")] = count(); }}',
                       after=after_counts),
    "bcc": tracer("profile-bpfcc", "-F", "{hz}", "-f", after=after_counts,
                  hint="it compiles against kernel headers; BCC_KERNEL_SOURCE names them"),
    "sysprof": tracer("sysprof-cli", "--force", "{folder}/capture", after=after_capture,
                      hint="it wants D-Bus's system bus, sysprofd and polkit"),
}
