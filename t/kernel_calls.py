# SPDX-License-Identifier: GPL-2.0-or-later
"""kernel_calls.py KALLSYMS LISTINGS: where direct calls in listings of the kernel go

Prints how many there are, how many do not go to a symbol's address, and those. A
retpoline's own call is none of them: it goes into the thunk that it is in.
"""
import re
import sys

first, addresses = {}, []
with open(sys.argv[1]) as f:
    for line in f:
        address, kind, name = line.split()[:3]
        if kind in "tTwW":
            addresses.append(int(address, 16))
        if name in ("_text", "_stext"):
            first[name] = int(address, 16)
base = first.get("_text", first.get("_stext"))
starts = {address - base for address in addresses}

calls, elsewhere = 0, []
with open(sys.argv[2]) as f:
    for line in f:
        found = re.search(r"\s(?:call|bl) +#?0x([0-9a-f]+)", line)
        if found and not re.search(r"<\w*__x86_indirect_thunk_\w+\+", line):
            calls += 1
            if int(found[1], 16) not in starts:
                elsewhere.append(line.strip())
print("calls", calls)
print("elsewhere", len(elsewhere))
for line in elsewhere:
    print(line)
