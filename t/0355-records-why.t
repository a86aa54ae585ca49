#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A loop waits for its load. Records of the hardware decide which culprit is blamed.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make recordings'
command -v objdump >/dev/null || skip_all 'no objdump to find instructions with'
command -v cc >/dev/null || skip_all 'no compiler for the loop'
[ "$(uname -m)" = x86_64 ] || skip_all 'the loop is x86-64 code'
plan 8

cat >walk.c <<'END'
__asm__(".text\n.globl walk\n.type walk, @function\n"
	"walk:\n\txor %eax, %eax\n"
	"1:\tadd 8(%rdi), %rax\n\tmov (%rdi), %rdi\n\tsub $1, %rsi\n\tjne 1b\n\tret\n"
	".size walk, . - walk\n");
int main(void)
{
	return 0;
}
END
cc -o walk walk.c 2>err || bail "$(cat err)"
objdump -d --disassemble=walk walk | sed -nE 's/^ *([0-9a-f]+):\t.*/\1/p' >code

# Samples of time are at the sum. Of each load there are sixty records, which found it in a
# cache, in memory, or after a page walk; or no records.
cat >make.py <<'END'
import sys
from perfdata_target import ADDR, DATA_SRC, WEIGHT_STRUCT, Event, recording
code = [int(line, 16) for line in open("code")]
HIT, L1, RAM = 2, 8, 0x80
TLB_HIT, TLB_MISS, WALKER = 2 | 8, 4, 0x20
for name, level, tlb in (("none", 0, 0), ("hits", HIT | L1, TLB_HIT),
                         ("misses", HIT | RAM, TLB_HIT), ("walks", HIT | L1, TLB_MISS | WALKER)):
    samples = [{"event": 0, "pc": code[i]} for i, n in ((1, 900), (3, 40), (4, 40))
               for _ in range(n)]
    for i in (1, 2) if level else ():
        samples += [{"event": 1, "pc": code[i], "addr": 0x7f0000000000 + 64 * k,
                     "data_src": 2 | level << 5 | tlb << 26} for k in range(60)]
    events = [Event(0, 0, 100000, 0, 0),
              Event(4, 0x1cd, 1000, 2, ADDR | WEIGHT_STRUCT | DATA_SRC)]
    open(name + ".data", "wb").write(recording(sys.argv[1], events, samples))
END
PYTHONPATH=$srcdir/t PYTHONDONTWRITEBYTECODE=1 python3 make.py "$tmp/walk" || bail 'no recordings'

# why NAME: the culprits of the wait at the sum, the likeliest first.
why()
{
	cpi import -o "$1.db" "$1.data" >out 2>&1 || bail "$(cat out)"
	cpi calc --db "$1.db" --format=json walk 2>err | python3 -c '
import json, sys
at = int(open("code").read().split()[1], 16)
for b in json.load(sys.stdin)["blocks"]:
    for i in b["instructions"]:
        for s in i["stalls"]:
            if int(i["offset"], 16) == at and s["kind"] == "dynamic":
                print(*dict.fromkeys(c["reason"] for c in s["culprits"]))'
}
why none >none
like "$(cat none)" dcache 'without records the data cache is a culprit'
like "$(cat none)" dtlb 'without records the TLB is a culprit'
why hits >hits
unlike "$(cat hits)" 'dcache\|dtlb' 'if loads hit cache and TLB, neither is a culprit'
like "$(cat hits)" . 'if loads hit cache and TLB, another culprit is named'
why misses >misses
like "$(cat misses)" '^dcache' 'if loads come from memory, the data cache is the first culprit'
unlike "$(cat misses)" dtlb 'if loads come from memory, the TLB is no culprit'
why walks >walks
like "$(cat walks)" '^dtlb' 'if loads wait for page walks, the TLB is the first culprit'
unlike "$(cat walks)" dcache 'if loads wait for page walks, the data cache is no culprit'
