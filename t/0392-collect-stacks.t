#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks of a program whose stacks are known: recursion, a thread, a callback from the
# C library. They are the known ones, and those that perf record -g sees in another run.
#
# Statistic: each part has a third of the CPU time and some 450 samples, so its share has a
# sigma of 1.3 %, and a quarter is 6 sigma less. The share of each stack with 5 % or more
# in either run: within 4.5 sigma of a difference of two binomials.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need nm python3
plan 21

# as_names: t/stack_names.py
as_names()
{
	python3 "$srcdir/t/stack_names.py" names
}

program=$(realpath "$programs/stacks")
nm --defined-only "$program" | sort >names
# The program is linked so that image offsets are addresses.
is "$(bias "$program")" 0 \
	'offsets of the program are its addresses'

of_cpi()
{
	cpi cat --stacks --db "$1" --comm stacks --format=csv | python3 -c '
import csv, sys
program = sys.argv[1]
for row in csv.DictReader(sys.stdin):
    frames = [f.rsplit("+", 1) for f in row["frames"].split(";")]
    print(row["n"], *(f[1] if f[0] == program else "-" for f in frames), sep="\t")
' "$program" | as_names
}

deep='spin;recurse;recurse;recurse;recurse;recurse;recurse;run_recursion;main;-'
thread='spin;thread_work;thread_main;-'
sorting='spin;compare;-'

# share FILE STACK: percent
share()
{
	awk -v stack="$2" '$1 == "total" { all = $2 } $1 == stack { n = $2 }
		END { print all ? 100 * n / all : 0 }' "$1"
}

# check_known FILE WHAT: the three known stacks are there; 3 tests
check_known()
{
	bound "$(share "$1" "$deep")" '>' 25 "$2: the stack of the recursion is complete"
	bound "$(share "$1" "$thread")" '>' 25 "$2: the stack of the thread is complete"
	bound "$(share "$1" "$sorting")" '>' 25 "$2: the callback is called by the C library"
}

# check_stacks DATABASE WHAT: the accounting is exact; 4 tests
check_stacks()
{
	is "$(sql 'SELECT count(*) > 0, sum(stored) > 0 FROM tally WHERE kind = 1' "$1")" '1|1' \
		"$2: stacks are stored"
	is "$(sql 'SELECT t.* FROM tally t WHERE kind = 1 AND received <> stored +
		(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.kind = t.kind
		AND l.stream = t.stream)' "$1")" '' "$2: received = stored + lost"
	is "$(sql 'SELECT t.* FROM tally t WHERE kind = 1 AND stored <>
		(SELECT total(total) FROM stack s JOIN context c ON c.id = s.context
		WHERE s.epoch = t.epoch AND s.stream = t.stream
		AND (c.name = "" OR c.name GLOB "comm=*"))' "$1")" '' \
		"$2: stored = the sum of the stacks"
	try "$2: every profile decodes" cpi cat --check --db "$1"
}

try 'cpi record -g fp records stacks' cpi record -g fp --stacks-freq 499 -F 19 -o record.db -- "$program" 900
check_stacks record.db 'record'
of_cpi record.db >record.txt
check_known record.txt 'record'

collect_start --stacks fp --stacks-freq 499
"$program" 900
cpid_ask status >status.txt
like "$(cat status.txt)" '^stacks fp$' 'the status says how stacks are taken'
collect_stop
check_stacks $db "$collector"
of_cpi $db >cpid.txt
check_known cpid.txt "$collector"

try 'cpi record runs without -g' cpi record -F 19 -o flat.db -- "$program" 10
is "$(sql 'SELECT count(*) FROM tally WHERE kind = 1' flat.db)" 0 'cpi record without -g stores no stacks'

command -v perf >/dev/null || {
	skip 1 'perf is missing'
	exit 0
}
perf record -q -g -e cpu-clock -c 2003000 -o perf.data -- "$program" 900 2>perf.err || {
	skip 1 "perf cannot record here: $(tail -n 1 perf.err)"
	exit 0
}
perf script -i perf.data -F comm,ip,dso 2>/dev/null | awk -v program="$program" '
	/^[^ \t]/ { print ""; next }
	NF { ip = $1; sub(/^[^(]*\(/, ""); sub(/\)$/, "")
		printf "%s\t", ($0 == program ? ip : "-") }
	END { print "" }' | sed -n 's/\t$//; /./s/^/1\t/p' | as_names >perf.txt
note "$(cat perf.txt)"
note "$(cat record.txt)"
python3 - record.txt perf.txt <<'END' >differ.txt
import sys

def read(path):
    rows = dict(line.rsplit(" ", 1) for line in open(path))
    rows = {stack: int(n) for stack, n in rows.items()}
    return rows.pop("total"), rows

(na, a), (nb, b) = read(sys.argv[1]), read(sys.argv[2])
for stack in sorted(set(a) | set(b)):
    x, y = a.get(stack, 0), b.get(stack, 0)
    p = (x + y) / (na + nb)
    sigma = (p * (1 - p) * (1 / na + 1 / nb)) ** 0.5
    if abs(x / na - y / nb) > 4.5 * sigma + 0.01:
        print(stack, x / na, y / nb)
END
is "$(cat differ.txt)" '' 'perf sees the same stacks as often'
