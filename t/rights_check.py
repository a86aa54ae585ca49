#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rights_check.py - compares what processes may do with what is written down

usage: rights_check.py processes DOC PID [SOCKET]
           PID and the processes below it, against the table of doc/security.md;
           prints "differs PROCESS: …" for each difference, and "seen PROCESS". SOCKET is
           where the control socket is.
       rights_check.py capabilities UNIT TRACE
           TRACE has the kernel's event cap_capable, of the unit's programs. Prints each
           capability of the unit that was never used.
       rights_check.py calls UNIT TRACE
           TRACE was written by strace -f. Prints "missing CALL" for each call that the
           unit does not allow, and "unused ENTRY" for each group or call that is allowed
           and was not needed.
       rights_check.py filter SOURCE TRACE
           TRACE was written by strace -f. Prints "unused CALL" for each call that SOURCE lists in
           allowed[], and that no process used behind its system call filter, and "refused
           CALL" for each that the filter refused.
"""

import os
import re
import subprocess
import sys

CAPABILITIES = {2: 'DAC_READ_SEARCH', 19: 'SYS_PTRACE', 21: 'SYS_ADMIN', 34: 'SYSLOG',
                38: 'PERFMON', 39: 'BPF', 40: 'CHECKPOINT_RESTORE'}
KINDS = {'0001': 'stream', '0002': 'datagram', '0005': 'packets'}


def read(path):
    with open(path, errors='replace') as f:
        return f.read()


def names_of(mask):
    names = sorted(CAPABILITIES.get(bit, str(bit)) for bit in range(64) if mask >> bit & 1)
    return ' '.join(names) or 'none'


def field(status, name):
    return re.search(r'^%s:\s*(\S+)' % name, status, re.M).group(1)


def unix_sockets():
    """inode: (kind, path) of each local socket."""
    found = {}
    for line in read('/proc/net/unix').splitlines()[1:]:
        cells = line.split(maxsplit=7)
        found[cells[6]] = (KINDS.get(cells[4], cells[4]), cells[7] if len(cells) > 7 else '')
    return found


def other_sockets(pid):
    """inode: family, of the others."""
    found = {}
    for name in ('tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6', 'netlink', 'packet'):
        path = '/proc/%d/net/%s' % (pid, name)
        if os.path.exists(path):
            for line in read(path).splitlines()[1:]:
                for cell in line.split():
                    found.setdefault(cell, name)
    return found


def inodes_of(pid):
    folder = '/proc/%d/fd' % pid
    for fd in os.listdir(folder):
        try:
            found = re.fullmatch(r'socket:\[(\d+)\]', os.readlink(folder + '/' + fd))
        except FileNotFoundError:  # closed meanwhile
            continue
        if found:
            yield found.group(1)


def sockets_of(pid, control):
    inodes = set(inodes_of(pid))
    local, others, seen = unix_sockets(), other_sockets(pid), set()
    for inode in inodes & set(inodes_of(pid)):  # those that were open all the time
        if inode in local:
            kind, path = local[inode]
            name = path.replace(control, 'SOCKET') if control and path else path or 'unnamed'
            seen.add('unnamed' if name == 'unnamed' else '%s (%s)' % (name, kind))
        else:
            seen.add(others.get(inode, 'unknown'))
    return ', '.join(sorted(seen)) or 'none'


def limits_of(pid):
    limits = read('/proc/%d/limits' % pid)

    def most(name):
        return re.search(r'^%s +\S+ +(\S+)' % name, limits, re.M).group(1)
    said = []
    if most('Max address space') != 'unlimited':
        said.append('%d MiB' % (int(most('Max address space')) >> 20))
    if most('Max file size') == '0':
        said.append('no file')
    if most('Max processes') == '0':
        said.append('no process')
    return ', '.join(said) or 'none'


def describe(name, pid, status, control):
    return [name, names_of(int(field(status, 'CapPrm'), 16)),
            names_of(int(field(status, 'CapEff'), 16)),
            'yes' if field(status, 'NoNewPrivs') == '1' else 'no',
            'yes' if field(status, 'Seccomp') == '2' else 'no',
            limits_of(pid), sockets_of(pid, control)]


def children_of(pid):
    found = []
    for task in os.listdir('/proc/%d/task' % pid):
        found += map(int, read('/proc/%d/task/%s/children' % (pid, task)).split())
    return found


def below(pid, parent=None):
    """(pid, name) of it and all below it; a worker has the name of its server."""
    try:
        name = read('/proc/%d/comm' % pid).strip()
        children = children_of(pid)
    except FileNotFoundError:  # it has ended
        return
    yield pid, name + ' worker' if name == parent else name
    for child in children:
        yield from below(child, name)


def threads_of(pid, name, control):
    """The threads that may do less than the first one."""
    first = describe(name, pid, read('/proc/%d/status' % pid), control)
    yield first
    for task in os.listdir('/proc/%d/task' % pid):
        row = describe(name + ' thread', pid, read('/proc/%d/task/%s/status' % (pid, task)),
                       control)
        if int(task) != pid and row[1:] != first[1:]:
            yield row


def table_of(doc):
    rows = {}
    for line in read(doc).splitlines():
        cells = [cell.strip().replace('`', '') for cell in line.split('|')[1:-1]]
        if len(cells) == 7:
            cells[1:3] = [' '.join(sorted(cell.split())) for cell in cells[1:3]]
            rows[cells[0]] = cells
    return rows


def check_processes(doc, pid, control=''):
    rows = table_of(doc)
    for number, name in below(int(pid)):
        try:
            seen = list(threads_of(number, name, control))
        except FileNotFoundError:  # it has ended
            continue
        for row in seen:
            print('seen', row[0])
            if row != rows.get(row[0]):
                print('differs %s: it is %s, said is %s' % (row[0], row[1:],
                                                            rows.get(row[0], [])[1:]))


def settings_of(unit, name):
    return re.findall(r'^%s=(.*)$' % name, read(unit), re.M)


def check_capabilities(unit, trace):
    used = set()
    for line in read(trace).splitlines():
        found = re.search(r'^ *(cpid|cpi-\w+)-\d+ .*cap_capable: .*cap (\d+), ret 0$', line)
        if found:
            used.add('CAP_' + CAPABILITIES.get(int(found.group(2)), found.group(2)))
    for name in settings_of(unit, 'CapabilityBoundingSet')[0].split():
        if name not in used:
            print(name)


def group(name):
    if not name.startswith('@'):
        return {name}
    said = subprocess.run(['systemd-analyze', 'syscall-filter', name], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    calls = set()
    for word in re.findall(r'^ +([@\w-]+)$', said, re.M):
        calls |= group(word)
    return calls


def filter_of(unit):
    """What is allowed, entry by entry, and what is refused after all."""
    allowed, refused = {}, set()
    for line in settings_of(unit, 'SystemCallFilter'):
        for entry in line.lstrip('~').split():
            if line.startswith('~'):
                refused |= group(entry)
            else:
                allowed[entry] = group(entry)
    return allowed, refused


def calls_of(trace):
    """What was called from the first execve() of a program of ours on."""
    calls = set()
    begun = False
    for line in read(trace).splitlines():
        begun = begun or re.search(r'execve\("[^"]*/cpi(d|-\w+)"', line)
        found = re.match(r'(?:\d+ +)?(\w+)\(', line)
        if begun and found:
            calls.add(found.group(1))
    return calls


def check_calls(unit, trace):
    allowed, refused = filter_of(unit)
    always = group('@default')
    used = calls_of(trace)
    all_allowed = set().union(always, *allowed.values()) - refused
    for call in sorted(used - all_allowed):
        print('missing', call)
    for entry, calls in allowed.items():
        others = set().union(always, *(c for e, c in allowed.items() if e != entry))
        if not (calls - others - refused) & used:
            print('unused', entry)


def filtered_calls(trace):
    """(call, whether it was refused) of each call behind a process's own filter."""
    locked = set()
    for line in read(trace).splitlines():
        found = re.match(r'(\d+) +(?:<\.\.\. )?(\w+)[( ]', line)
        if found and 'PR_SET_SECCOMP' in line:
            locked.add(found.group(1))
        elif (found and found.group(1) in locked and found.group(2) != 'prctl'
              and not line.endswith('<unfinished ...>')):
            yield found.group(2), line.endswith('= -1 EPERM (Operation not permitted)')


def check_filter(source, trace):
    text = re.search(r'allowed\[\] = \{(.*?)\n\};', read(source), re.S).group(1)
    text = text.split('#ifdef SANITIZERS')[0]
    calls = set(filtered_calls(trace))
    used = {call for call, refused in calls if not refused}
    for call in sorted(set(re.findall(r'\bSYS_(\w+),', text)) - used):
        print('unused', call)
    for call in sorted({call for call, refused in calls if refused} - used):
        print('refused', call)


if __name__ == '__main__':
    {'processes': check_processes, 'capabilities': check_capabilities,
     'calls': check_calls, 'filter': check_filter}[sys.argv[1]](*sys.argv[2:])
