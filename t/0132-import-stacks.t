#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Chains of callers in recordings: each frame where perf has it, and why they end.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make recordings'
plan 14

# What this machine's perf can be made to record of no machine: pid 7 at 0x400000.
python3 - >made <<'END' || bail 'no recording'
import struct, sys
p = lambda fmt, *v: struct.pack("<" + fmt, *v)
record = lambda kind, body, misc=2: p("IHH", kind, misc, 8 + len(body)) + body
IP, TID, TIME, CHAIN, BRANCH, REGS, STACK, IDENTIFIER = 1, 2, 4, 32, 1 << 11, 1 << 12, 1 << 13, 1 << 16
KERNEL, USER, GUEST, DEFERRED = (2 ** 64 - n for n in (128, 512, 2048, 640))
K = 2 ** 64 - 2 ** 31
PLAIN = IP | TID | TIME | CHAIN | IDENTIFIER
def attr(n, extra, calls=0, limit=0):
    body = p("IIQQQQQ", 0, 112, n, 1000, PLAIN | extra, 0, 1 << 18) + bytes(24)
    return body + p("QQIIQIHH", calls, 1, 0, 0, 0, 0, limit, 0) + p("Q", 100 + n)
when = lambda t, e=0: p("IIQQ", 7, 7, t, 100 + e)
out = struct.pack("<Q", 0x32454c4946524550) + p("Q", 16)
out += record(64, attr(0, 0), 0) + record(64, attr(1, BRANCH, 1 << 11 | 1), 0)
out += record(64, attr(2, REGS | STACK), 0) + record(64, attr(3, 0, 0, 3), 0)
out += record(3, p("II", 7, 7) + b"program\0" + when(1), 1 << 13)
def mmap(start, name, misc=2, pgoff=0):
    name = name + bytes(8 - len(name) % 8)
    return record(10, p("IIQQQIIQQII", 7, 7, start, 0x10000, pgoff, 0, 0, 0, 0, 5, 2) + name +
                  when(2), misc)
out += mmap(0x400000, b"/bin/program") + mmap(0x700000, b"/lib/libc.so.6")
out += mmap(K, b"[kernel.kallsyms]_text", 1, K)
head = lambda e, t, ip: p("QQIIQ", 100 + e, ip, 7, 7, t)
def sample(e, chain, rest=b"", misc=2):
    global out, t
    t += 1
    out += record(9, head(e, t, 0x400010) + p("Q", len(chain)) +
                  b"".join(p("Q", c) for c in chain) + rest, misc)
t = 10
sample(0, [USER, 0x400010, 0x400100, 0x700200])
sample(0, [KERNEL, K + 0x10, K + 0x20, USER, 0x400010, 0x400100, 0x700200], misc=1)
sample(0, [KERNEL, K + 0x10, DEFERRED, 99], misc=1)
sample(0, [GUEST, 0x400010])
sample(3, [USER, 0x400010, 0x400100, 0x400200])
branch = lambda a, b: p("QQQ", a, b, 0)
calls = p("Q", 2) + branch(0x400105, 0x400300) + branch(0x700205, 0x400100)
sample(1, [KERNEL, K + 0x10, USER, 0x400310, 0x1], calls, misc=1)
copied = p("QQ", 2, 5) + p("Q", 16) + b"s" * 16 + p("Q", 8)
sample(2, [], copied)
sample(2, [KERNEL, K + 0x10], copied, misc=1)
out += record(2, p("QQ", 100, 5) + when(90))
sys.stdout.buffer.write(out)
END
cpi import -o made.db made >out 2>&1
like "$(cat out)" '^made: 8 call stacks' 'a recording is imported, and its stacks are counted'
cpi cat --stacks --db made.db --format=csv | sed -n 's/^[^,]*,import,1000,[a-z]*,1,comm=program,//p' |
	sort >got
cat >want <<'END'
copied,/bin/program+0x10
copied,[kernel]+0x10
deferred,[kernel]+0x10
ended,/bin/program+0x10;/bin/program+0xff;/lib/libc.so.6+0x1ff
ended,[guest]
ended,[kernel]+0x10;/bin/program+0x300;/bin/program+0x105;/lib/libc.so.6+0x205
ended,[kernel]+0x10;[kernel]+0x1f;/bin/program+0x10;/bin/program+0xff;/lib/libc.so.6+0x1ff
limit,/bin/program+0x10;/bin/program+0xff;/bin/program+0x1ff
END
diff want got >&2
ok $? 'each frame is in its image, and each end has its reason'
is "$(cpi cat --edges --db made.db --format=csv | grep -c '^branch')" 0 \
	'calls that were recorded in the place of a chain are no path'
is "$(sqlite3 made.db 'SELECT sum(received), sum(stored) FROM stack_tally')" '13|8' \
	'received is what is stored and what perf lost'
is "$(cpi cat --check --db made.db >out 2>&1; echo $?)" 0 'the database is whole'

# This machine's.
if ! command -v perf >/dev/null || ! perf record -qge cpu-clock -o probe.data true 2>err; then
	skip 9 'perf cannot record here'
	exit
fi
cat "$srcdir"/t/*.t "$srcdir"/daemon/*.c "$srcdir"/db/*.c "$srcdir"/analysis/*.c >text
record()
{
	perf record -qF 1999 -e cpu-clock,page-faults "$@" -- sort -o sorted text text 2>err
}
# same NAME FORM: frame by frame as perf script has it, in order and in the database
same()
{
	perf script -i "$1" -F ip |
		awk '/^$/ { if (n) print ""; n = 0 } /^[ \t]/ { printf(n++ ? " %s" : "%s", $1) }
			END { if (n) print "" }' |
		sed -E 's/[0-9a-f]*([0-9a-f]{3})\b/\1/g' >want
	"$builddir/t/perfdata_dump" "$1" | sed -n 's/^c //p' |
		sed -E 's/[0-9a-f]*([0-9a-f]{3})\b/\1/g' >got
	[ -s got ] && cmp got want >&2
	ok $? "$2: $(wc -l <got) chains, record by record"
	cpi import -o "$1.db" "$1" >out 2>&1 && "$srcdir/t/perfdata_chains.py" "$1" "$1.db"
	ok $? "$2: images, offsets and counts"
}
record -g -o own.data
same own.data 'perf record -g'
record -g -z -o packed.data
same packed.data 'perf record -g -z'
record -g -o - >pipe.data
same pipe.data 'perf record -g into a pipe'
like "$(cpi tree --db own.data.db --event=cpu-clock 2>err)" 'sort' 'cpi tree shows them'
cpi flame --db own.data.db --event=cpu-clock -o flame.svg >out 2>&1
is $? 0 'cpi flame draws them'
record --call-graph dwarf,512 -o copied.data
cpi import -o copied.db copied.data >out 2>&1
is "$(sqlite3 copied.db 'SELECT sum(received) = sum(stored) AND sum(stored) > 0 FROM stack_tally')" 1 \
	'stacks that were copied are counted'
