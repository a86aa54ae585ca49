#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi record --raw writes each sample; the database has the same, counted.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need od
plan $((nr_stored_tests + 7))

try 'cpi records' cpi record -e cpu-clock -F 2000 -o t.db --raw trace -- \
	"$programs/spawn" 20 2 100 "$programs/burn_a" "$programs/branch"
check_stored

# Header: magic, version, size of a record. Records: see daemon/raw.h.
is "$(od -An -j12 -N4 -tu4 trace | tr -d ' ')" 32 'a record is 32 bytes'
is "$((($(wc -c <trace) - 16) % 32))" 0 'records are whole'
od -An -v -w32 -j16 -tx8 trace | awk '{ print $2, substr($3, 1, 2) }' >records
is "$(wc -l <records)" "$(sql "SELECT sum(received) FROM tally" | awk -v lost="$(sql \
	"SELECT total(n) FROM loss WHERE name = 'ring_lost'")" '{ print $1 - lost }')" \
	'the trace has every sample that was taken'

# By address: burn_a alone is there, for the programs stand at equal addresses.
cpi cat --db t.db --image '*/branch' --format=csv >branch.csv
cpi cat --db t.db --image '*/burn_a' --format=csv >burn_a.csv
# The code's address in memory less its offset in the file.
bias=$(readelf -lW "$programs/burn_a" | awk '$1 == "LOAD" && / R E / { print $3, $2; exit }')
