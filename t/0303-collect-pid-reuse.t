#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One process id for two hundred processes of two programs at equal addresses, all
# between two sweeps: each sample goes to the program that had the id then.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
"$programs/spawn" -p 1 1 0 "$programs/burn_a" >/dev/null 2>&1
[ $? -ne 77 ] || skip_all 'clone3 with set_tid is not permitted here'
plan $((nr_stored_tests + 8))

collect_start -F 1000 --sweep 1m
cpu_ms=$("$programs/spawn" -p 200 1 10 "$programs/burn_a" "$programs/burn_b")
try 'the programs run' test -n "$cpu_ms"
collect_stop
check_stored

all=$(samples 'burn_?' '*')
a=$(samples burn_a '*/burn_a')
b=$(samples burn_b '*/burn_b')
note "$all samples of $cpu_ms ms: $a and $b"
bound "$all" '>=' "$((cpu_ms / 2))" 'samples are of the programs'
is "$(strangers)" '' 'no sample is of the other program'
# The kernel's collectors tell lives apart by their exec ids, which are equal here.
[ $collector = perf ] || {
	skip 4 "$collector: one process id is in use again before the sweep"
	exit 0
}
# Both took the same time: their difference has a variance of their sum at most.
bound "$(((a - b) * (a - b)))" '<=' "$((16 * (a + b)))" 'both have the same part, within 4 sigma'
bound "$(((a + b) * 100))" '>=' "$((all * 80))" 'most are in what the programs compute'
bound "$(($(samples 'burn_?' '[[]unknown]') * 100))" '<=' "$all" 'unknown: 1 % at most'
bound "$(sql "SELECT 1000 * total(n) FROM loss WHERE name = 'ambiguous'")" '<=' \
	"$(sql 'SELECT sum(received) FROM tally')" 'ambiguous: 0.1 % at most'
