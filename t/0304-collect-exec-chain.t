#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One process executes three programs in turn, all at the same addresses: 5, 10 and 15 ms
# of CPU time each.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
plan $((nr_stored_tests + 6))

set --
for _ in $(seq 120); do
	set -- "$@" "$programs/burn_a" 5 "$programs/burn_b" 10 "$programs/burn_c" 15
done
collect_start -F 1000 --sweep 1m
try 'the chain runs' "$@"
collect_stop
check_stored

a=$(samples burn_a '*/burn_a')
b=$(samples burn_b '*/burn_b')
c=$(samples burn_c '*/burn_c')
all=$(samples 'burn_?' '*')
note "$a, $b, $c samples"
# Of 3600 that are due if no timer is late.
bound "$((a + b + c))" '>=' 1800 'the programs have at least half of their samples'
is "$(strangers)" '' 'no sample is attributed to another program'
# Chi-square with two degrees of freedom, p = 0.00001.
bound "$(awk -v a="$a" -v b="$b" -v c="$c" 'BEGIN {
	n = (a + b + c) / 6
	print (a - n) ^ 2 / n + (b - 2 * n) ^ 2 / (2 * n) + (c - 3 * n) ^ 2 / (3 * n)
}')" '<=' 23.0 'the programs have 1, 2 and 3 sixths of the samples'
share_at_most "$(samples 'burn_?' '[[]unknown]')" "$all" 0.01 \
	'at most 1 % of the samples have no image'
