#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hundreds of processes of 10 ms each, three programs at equal addresses: samples
# go to the program that ran, although it is gone when they are attributed.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 10))

collect_start -F 1000 --sweep 2s
cpu_ms=$("$programs/spawn" 400 2 10 "$programs/burn_a" "$programs/burn_b" "$programs/burn_c")
try 'the programs run' test -n "$cpu_ms"
collect_stop
check_stored

all=$(samples 'burn_?' '*')
note "$all samples of $cpu_ms ms"
# Timers that a busy host delays cost samples; half of them would be another matter.
bound "$all" '>=' "$((cpu_ms / 2))" 'samples are of the programs'
is "$(strangers)" '' 'no sample is of another program'
own=0
for name in burn_a burn_b burn_c; do
	n=$(samples $name "*/$name")
	own=$((own + n + $(samples $name '[[]kernel]') + $(samples $name '[[]vdso]')))
	bound "$n" '>=' "$((all / 5))" "$name has its part"
done
bound "$((own * 100))" '>=' "$((all * 99))" '99 % of the samples are in the right image'
bound "$(($(samples 'burn_?' '[[]unknown]') * 100))" '<=' "$all" 'unknown: 1 % at most'
bound "$(sql "SELECT 1000 * total(n) FROM loss WHERE name = 'ambiguous'")" '<=' \
	"$(sql 'SELECT sum(received) FROM tally')" 'ambiguous: 0.1 % at most'
