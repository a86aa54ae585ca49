#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two hundred processes of two programs at equal addresses have one process id, all of
# them between two sweeps. Each sample is attributed to the program that had the id then.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
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
bound "$all" '>=' "$((cpu_ms / 2))" 'the programs have at least half of the samples that their CPU time promises'
is "$(strangers)" '' 'no sample is attributed to the other program'
# The kernel's collectors tell lives apart by their exec ids, which are equal here.
[ $collector = perf ] || {
	skip 4 "$collector: one process id is in use again before the sweep"
	exit 0
}
# The kernel charges both with the same time.
share_near "$a" $((a + b)) 0.5 'both programs have the same number of samples'
share_at_least $((a + b)) "$all" 0.8 '80 % of the samples are in the programs themselves'
share_at_most "$(samples 'burn_?' '[[]unknown]')" "$all" 0.01 \
	'at most 1 % of the samples have no image'
share_at_most "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND name = 'ambiguous'")" \
	"$(sql 'SELECT sum(received) FROM tally WHERE kind = 0')" 0.001 \
	'at most 0.1 % of all samples are ambiguous'
