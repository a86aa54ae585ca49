# SPDX-License-Identifier: GPL-2.0-or-later
"""kernel_calls.py KALLSYMS LISTINGS: where direct calls in listings of the kernel go

Prints how many there are, how many do not go to a symbol's address, and those. A
retpoline's own call is none of them: it goes into the thunk that it is in. Nor is what
whoever traces a procedure has put at its entry: that leads out of the kernel's text, to
a trampoline that kallsyms need not show.
"""
import re
import sys

ENTRY_SIZE = 8  # what may be before that call: endbr64, or arm64's mov of the link register

named, addresses = {}, []
with open(sys.argv[1]) as f:
    for line in f:
        address, kind, name = line.split()[:3]
        if kind in "tTwW":
            addresses.append(int(address, 16))
        if name in ("_text", "_stext", "_etext"):
            named[name] = int(address, 16)
base = named.get("_text", named.get("_stext"))
text_size = named["_etext"] - base
starts = {address - base for address in addresses}


def is_traced_entry(call, to):
    at_entry = any(call - n in starts for n in range(ENTRY_SIZE))
    return at_entry and not 0 <= to < text_size


calls, elsewhere = 0, []
with open(sys.argv[2]) as f:
    for line in f:
        found = re.search(r"0x([0-9a-f]+)\s+(?:call|bl) +#?0x([0-9a-f]+)", line)
        if not found or re.search(r"<\w*__x86_indirect_thunk_\w+\+", line):
            continue
        call, to = (int(n, 16) for n in found.groups())
        if is_traced_entry(call, to):
            continue
        calls += 1
        if to not in starts:
            elsewhere.append(line.strip())
print("calls", calls)
print("elsewhere", len(elsewhere))
for line in elsewhere:
    print(line)
