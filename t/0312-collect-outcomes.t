#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Conditional jumps of known direction: one that is always taken, one that never is,
# and one that is taken seven times of eight.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need nm readelf
[ "$(uname -m)" = x86_64 ] || skip_all 'the program is written for x86-64'
plan $((nr_stored_tests + 8))

collect_start -F 2000
"$programs/branch" 3000 & "$programs/branch" 3000
wait $!
collect_stop
check_stored

# at SYMBOL: n, taken and not taken there.
cpi cat --db t.db --image '*/branch' --format=csv >counts.csv
code=$(readelf -lW "$programs/branch" | awk '$1 == "LOAD" && / R E / { print $3 - $2; exit }')
at()
{
	address=$(nm "$programs/branch" | sed -n "s/ . $1\$//p")
	offset=$(printf '0x%x' $((0x$address - code)))
	sqlite3 :memory: '.import --csv counts.csv c' \
		"SELECT total(n), total(taken), total(not_taken) FROM c WHERE offset = '$offset'" |
		sed 's/\.0//g; s/|/ /g'
}
