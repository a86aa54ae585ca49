#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi record --raw writes each sample. The database has the same samples, counted.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need od readelf
plan $((nr_stored_tests + 6))

try 'cpi records' cpi record -e cpu-clock -F 2000 -o t.db --raw trace -- \
	sh -c 'echo $$ >pid; exec "$0" 2000' "$programs/branch"
check_stored

# A header of 16 bytes, then struct raw_record of daemon/collect/raw.h, as 32-bit words: time,
# time, pc, pc, tgid, cpu + event + outcome, generation, 0.
is "$(od -An -j12 -N4 -tu4 trace | tr -d ' ')" 32 'a record is 32 bytes'
is "$((($(wc -c <trace) - 16) % 32))" 0 'no record is cut'
is "$((($(wc -c <trace) - 16) / 32))" "$(sql "SELECT sum(received) - (SELECT coalesce(sum(n), 0)
	FROM loss WHERE kind = 0 AND name = 'ring_lost') FROM tally WHERE kind = 0")" 'the trace has every sample that was taken'
od -An -v -w32 -j16 -tu4 trace | awk -v tgid="$(cat pid)" -v bias="$(bias "$programs/branch")" '
	$5 == tgid && $4 == 0 && $3 >= bias && $3 < bias + 16777216 {
		n[$3]++
		outcome[$3, int($6 / 16777216)]++
	}
	END {
		for (pc in n)
			printf "0x%x,%d,%d,%d\n", pc - bias, n[pc], outcome[pc, 1], outcome[pc, 2]
	}' | sort >traced
cpi cat --db t.db --image '*/branch' --format=csv >counts.csv
sqlite3 -csv :memory: '.import --csv counts.csv c' 'SELECT offset, n, taken, not_taken FROM c' |
	sort >stored
bound "$(awk -F, '{ n += $2 } END { print n + 0 }' stored)" '>=' 1000 'the program was sampled'
is "$(diff traced stored)" '' 'the counts and outcomes of the database are those of the trace'
