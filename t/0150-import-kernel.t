#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# While the recorded kernel still runs, an import names its procedures, and the database
# keeps the names.
. "$srcdir/t/tap.sh"
need perf python3
need_record
[ "$(awk '$3 == "_stext" { print $1 }' /proc/kallsyms)" != 0000000000000000 ] ||
	skip_all 'addresses of kernel symbols are hidden'
perf record -q -g -e cpu-clock -c 99700 -o p.data -- \
	head -c 200M /dev/zero >/dev/null 2>err || skip_all "perf cannot record: $(cat err)"
plan 7

cpi import -o p.db p.data >out 2>&1
is $? 0 'a recording of the running kernel is imported'
[ "$(cpi prof --db p.db --image '[kernel]' --format=json | grep -c '"procedure"')" -gt 0 ]
ok $? 'the recording has samples of the kernel'

# Each row is a symbol of kallsyms, and has the samples whose addresses are in it. Code
# outside of the kernel's text, such as BPF programs, has no names.
cat >oracle.py <<'END'
import bisect, collections, json, subprocess, sys

names = collections.defaultdict(set)
for line in open("/proc/kallsyms"):
    address, kind, name = line.split()[:3]
    if name == "_etext":
        end = int(address, 16)
    if kind in "tTwW" and "[" not in line:
        names[int(address, 16)].add(name)
starts = sorted(names)
text = subprocess.check_output(["perf", "script", "-i", "p.data", "-G", "-F", "ip"],
                               text=True, stderr=subprocess.DEVNULL)
want = collections.Counter()
for ip in (int(word, 16) for word in text.split()):
    if starts[0] <= ip < end:
        want[starts[bisect.bisect_right(starts, ip) - 1]] += 1
rows = json.loads(subprocess.check_output(
    ["cpi", "prof", "--db", "p.db", "--image", "[kernel]", "--format=json"]))["rows"]
got = collections.Counter()
for row in rows:
    if row["procedure"] == "[unknown procedure]":
        continue
    n = row["samples"]["cpu-clock"]
    at = [a for a in want if row["procedure"] in names[a] and want[a] == n and not got[a]]
    assert at, row
    got[at[0]] = n
assert got == want and want, want - got
END
python3 oracle.py
ok $? 'each kernel procedure has the samples that perf recorded at its addresses'

# A kernel function that called another appears by name in the stacks.
unlike "$(cpi tree --db p.db --format=json | grep '\[kernel\]')" 'unknown procedure' \
	'kernel frames of call stacks have names'

# Names of the running kernel are not those of another one.
cat >other.py <<'END'
import re, subprocess
text = subprocess.check_output(["perf", "buildid-list", "-i", "p.data"], text=True)
own = bytes.fromhex(re.search(r"^(\w+) \[kernel.kallsyms\]", text, re.M)[1])
recording = open("p.data", "rb").read()
assert own in recording
open("other.data", "wb").write(recording.replace(own, own[::-1]))
END
python3 other.py && cpi import -o other.db other.data >out 2>&1 &&
	cpi prof --db other.db --image '[kernel]' --format=json >other.json
is "$(grep -o '"procedure": "[^"]*"' other.json | sort -u)" \
	'"procedure": "[unknown procedure]"' \
	'a kernel with another build id gets no names'

# Who may not see kernel addresses is told what is missing.
chmod 777 . && chmod 644 p.data
if [ "$(id -u)" -ne 0 ] ||
	! as_nobody grep -q '^0000000000000000 . _stext$' /proc/kallsyms 2>/dev/null; then
	skip 2 'other users see addresses of kernel symbols'
else
	cp "$(command -v cpi)" own-cpi # another user may not enter the build
	as_nobody env TMPDIR="$PWD" ./own-cpi import -o "$PWD/nobody.db" "$PWD/p.data" >out 2>&1
	is $? 0 'a user who sees no kernel addresses can import'
	like "$(cat out)" 'kernel procedures have no names; import as root' \
		'the message says that the names are missing, and what helps'
fi
