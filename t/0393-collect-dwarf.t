#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks by unwind tables, of a program without frame pointers, stripped, whose
# stacks one knows: recursion, a callback from the C library, a handler of a signal, an
# exception on its way, a thread. And of Python, and what becomes of them when cpi-unwind
# dies.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need nm strip python3 pgrep readelf
[ -x "$builddir/tools/cpi-unwind" ] || skip_all 'libunwind is not built in'
command -v "${CXX:=g++}" >/dev/null || skip_all "$CXX is missing"
plan 31

${CXX} -O2 -fomit-frame-pointer -o calls.full "$srcdir/t/programs/calls.cc" -lpthread \
	2>build.log
ok $? 'the program compiles'
nm --defined-only calls.full >names
strip -o calls calls.full
program=$PWD/calls
is "$(bias calls)" 0 \
	'its code is at its own offset'
rounds=1200000000
ln -s "$(python3 -c 'import sys; print(sys.executable)')" known_python

# check_known DATABASE WHAT: 5 tests
check_known()
{
	cpi cat --stacks --db "$1" --comm calls --format=csv >stacks.csv
	python3 "$srcdir/t/calls_known.py" "$program" names <stacks.csv >known.txt
	while read -r part percent n; do
		note "$2: $part: $n stacks"
		bound "$percent" '>=' 99 "$2: $part is whole"
	done <known.txt
}

# check_stored DATABASE WHAT: 2 tests
check_stored()
{
	is "$(sql 'SELECT t.* FROM stack_tally t WHERE received <> stored +
		(SELECT total(n) FROM stack_loss l WHERE l.epoch = t.epoch
		AND l.stream = t.stream)' "$1")" '' "$2: received = stored + lost"
	try "$2: the database is whole" cpi cat --check --db "$1"
}

try 'cpi record -g dwarf' \
	cpi record -g dwarf --stacks-freq 199 -F 19 -o record.db -- "$program" $rounds
check_stored record.db record
is "$(sql 'SELECT source FROM stream JOIN stack_tally ON stream.id = stream
	WHERE stored > 0' record.db)" dwarf 'the stream says how'
check_known record.db record

collect_start --stacks dwarf --stacks-freq 199
server=$(pgrep -P "$cpid_pid" -x cpi-unwind)
unlike "$(cat "/proc/$server/status")" '^Uid:[[:space:]]*0[[:space:]]' \
	'cpi-unwind is not root'
worker=$(pgrep -P "$server" -x cpi-unwind)
is "$(sed -n 's/^CapEff:[[:space:]]*0*//p; s/^Seccomp:[[:space:]]*//p' \
	"/proc/$worker/status" | tr '\n' ' ')" ' 2 ' \
	'its worker has no capability, and may call little'
is "$(awk '{ print $19 }' "/proc/$worker/stat")" 10 'at a low priority'
run 'a program runs' "$program" $rounds
run 'and Python' ./known_python -c '
def deep(n):
    return sum(i * i for i in range(25000000)) if n == 0 else deep(n - 1)
deep(20)'
cpid_ask flush >/dev/null
cpid_ask status >status.txt
like "$(cat status.txt)" '^stacks dwarf$' 'the status says so'
like "$(cat status.txt)" '^unwind on$' 'and that there is a worker'
check_known $db "$collector"
bound "$(cpi cat --stacks --db $db --comm known_python --format=csv | python3 -c '
import csv, sys
n = [0, 0]
for row in csv.DictReader(sys.stdin):
    n[row["mark"] == "ended"] += int(row["n"])
print(100 * n[1] / max(sum(n), 1))')" '>=' 99 'stacks of Python end where it began'

kill -KILL "$worker"
run 'with the worker dead a program runs' "$program" $rounds
began_again() { [ "$(cpid_field unwind)" = on ]; }
await 30 began_again
ok $? 'there is another worker'
kill -KILL "$server"
has_stopped() { [ "$(cpid_field unwind)" = stopped ]; }
await 30 has_stopped
ok $? 'without cpi-unwind there is none'
collect_stop
check_stored $db "$collector"
bound "$(sql 'SELECT total(n) FROM stack_loss WHERE name = "unwind_died"')" '>' 0 \
	'what the dead worker had is lost by name'
