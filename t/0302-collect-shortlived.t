#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hundreds of processes of 10 ms each, of three programs at equal addresses. Samples are
# attributed to the program that ran, although it has ended by then.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
plan $((nr_stored_tests + 10))

collect_start -F 1000 --sweep 2s
cpu_ms=$("$programs/spawn" 400 2 10 "$programs/burn_a" "$programs/burn_b" "$programs/burn_c")
try 'the programs run' test -n "$cpu_ms"
collect_stop
check_stored

all=$(samples 'burn_?' '*')
note "$all samples of $cpu_ms ms"
# A sample per ms. A busy host delays timers, which costs samples; the other half of them
# is far more than that, and more than 30 sigma.
bound "$all" '>=' "$((cpu_ms / 2))" 'the programs have at least half of the samples that their CPU time promises'
is "$(strangers)" '' 'no sample is attributed to another program'
own=0
for name in burn_a burn_b burn_c; do
	n=$(samples $name "*/$name")
	own=$((own + n + $(samples $name '[[]kernel]') + $(samples $name '[[]vdso]')))
	# A third of 2000 and more: a fifth is 12 sigma less.
	bound "$n" '>=' "$((all / 5))" "$name has at least a fifth of the samples"
done
share_at_least "$own" "$all" 0.99 '99 % of the samples are in the right image'
share_at_most "$(samples 'burn_?' '[[]unknown]')" "$all" 0.01 \
	'at most 1 % of the samples have no image'
share_at_most "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND name = 'ambiguous'")" \
	"$(sql 'SELECT sum(received) FROM tally WHERE kind = 0')" 0.001 \
	'at most 0.1 % of all samples are ambiguous'
