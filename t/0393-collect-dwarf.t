#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks by unwind tables, of a stripped program without frame pointers whose stacks
# are known: recursion, a callback from the C library, a signal handler, a thrown
# exception, a thread. Also stacks of Python, and stacks after cpi-unwind has died.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need nm strip python3 pgrep readelf
[ -x "$builddir/helpers/cpi-unwind" ] || skip_all 'libunwind is not built in'
command -v "${CXX:=g++}" >/dev/null || skip_all "$CXX is missing"
plan 31

${CXX} -O2 -fomit-frame-pointer -o calls.full "$srcdir/t/programs/calls.cc" -lpthread \
	2>build.log
ok $? 'the program compiles'
nm --defined-only calls.full >names
strip -o calls calls.full
program=$PWD/calls
is "$(bias calls)" 0 \
	'offsets of the program are its addresses'
rounds=1200000000
ln -s "$(python3 -c 'import sys; print(sys.executable)')" known_python

# check_known DATABASE WHAT: 99 % of the stacks of each part are complete; 5 tests
check_known()
{
	cpi cat --stacks --db "$1" --comm calls --format=csv >stacks.csv
	python3 "$srcdir/t/calls_known.py" "$program" names <stacks.csv >known.txt
	while read -r part percent n; do
		share_at_least "$(awk "BEGIN { print $percent * $n / 100 }")" "$n" 0.99 \
			"$2: 99 % of the stacks are complete: $part"
	done <known.txt
}

# check_stored DATABASE WHAT: the accounting is exact; 2 tests
check_stored()
{
	is "$(sql 'SELECT t.* FROM tally t WHERE kind = 1 AND received <> stored +
		(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.kind = t.kind
		AND l.stream = t.stream)' "$1")" '' "$2: received = stored + lost"
	try "$2: every profile decodes" cpi cat --check --db "$1"
}

try 'cpi record -g dwarf records stacks' \
	cpi record -g dwarf --stacks-freq 199 -F 19 -o record.db -- "$program" $rounds
check_stored record.db record
is "$(sql 'SELECT source FROM stream JOIN tally ON kind = 1 AND stream.id = stream
	WHERE stored > 0' record.db)" dwarf 'the stream names the source of the stacks'
check_known record.db record

collect_start --stacks dwarf --stacks-freq 199
server=$(pgrep -P "$cpid_pid" -x cpi-unwind)
unlike "$(cat "/proc/$server/status")" '^Uid:[[:space:]]*0[[:space:]]' \
	'cpi-unwind is not root'
worker=$(pgrep -P "$server" -x cpi-unwind)
is "$(sed -n 's/^CapEff:[[:space:]]*0*//p; s/^Seccomp:[[:space:]]*//p' \
	"/proc/$worker/status" | tr '\n' ' ')" ' 2 ' \
	'the worker of cpi-unwind has no capabilities, and its system calls are filtered'
is "$(awk '{ print $19 }' "/proc/$worker/stat")" 10 'the worker of cpi-unwind has a low priority'
run 'a program runs' "$program" $rounds
run 'Python runs' ./known_python -c '
def deep(n):
    return sum(i * i for i in range(25000000)) if n == 0 else deep(n - 1)
deep(20)'
cpid_ask flush >/dev/null
cpid_ask status >status.txt
like "$(cat status.txt)" '^stacks dwarf$' 'the status says how stacks are taken'
like "$(cat status.txt)" '^unwind on$' 'the status says that there is a worker'
check_known $db "$collector"
cpi cat --stacks --db $db --comm known_python --format=csv | python3 -c '
import csv, sys
n = [0, 0]
for row in csv.DictReader(sys.stdin):
    n[row["mark"] == "ended"] += int(row["n"])
print(n[1], sum(n))' >python.txt
read -r complete n <python.txt
share_at_least "$complete" "$n" 0.99 '99 % of the stacks of Python are complete'

kill -KILL "$worker"
run 'a program runs after the worker was killed' "$program" $rounds
began_again() { [ "$(cpid_field unwind)" = on ]; }
await began_again
ok $? 'another worker is started'
kill -KILL "$server"
has_stopped() { [ "$(cpid_field unwind)" = stopped ]; }
await has_stopped
ok $? 'the status says that cpi-unwind was killed'
collect_stop
check_stored $db "$collector"
bound "$(sql 'SELECT total(n) FROM loss WHERE kind = 1 AND name = "unwind_died"')" '>' 0 \
	'samples of the killed worker are lost as unwind_died'
