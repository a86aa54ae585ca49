#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The simulator of the interrupt handler's table, on a recorded trace. It checks by
# itself that each variant hands out every sample that it was given.
. "$srcdir/t/tap.sh"
plan 15

sim=$builddir/t/bench/table_sim
gzip -dc "$srcdir/t/fixtures/trace/mixed.raw.gz" >trace
nr=$((($(stat -c %s trace) - 16) / 32))

"$sim" --repeat=0 --format=csv trace >rows 2>errors
is $? 0 'all variants hand out what they were given'
is "$(cat errors)" '' 'without a complaint'
is "$(sed 1d rows | wc -l)" 63 'nine variants in seven sizes'
is "$(sed 1d rows | cut -d, -f8 | sort -u)" "$nr" 'each takes every sample'

# A table that never evicts hands out each key of a CPU once in 10 s.
entries=$(tail -c +17 trace | od -An -v -w32 -t u4 | awk '
	{
		time[NR] = $2 * 4294967296 + $1
		key[NR] = $6 % 65536 " " $6 " " $3 " " $4 " " $5 " " $7 % 65536
		if (NR == 1 || time[NR] < start)
			start = time[NR]
	}
	END {
		for (i = 1; i <= NR; i++)
			if (!seen[key[i] " " int((time[i] - start) / 1e10)]++)
				nr++
		print nr
	}')
best=$(awk -v nr="$nr" -v entries="$entries" 'BEGIN { printf "%.4f", nr / entries }')
is "$(awk -F, 'NR > 1 && $10 == 0 { print $13 }' rows | sort -u)" "$best" \
	'tables that never evict hand out each key once per sweep'
is "$(awk -F, -v best="$best" 'NR > 1 && $13 > best' rows)" '' 'no table does better'
is "$(awk -F, 'NR > 1 && $10 > $8 * $9 + 0.5' rows)" '' 'nothing is evicted without a miss'
is "$(awk -F, '$2 == 1 && $1 == 1024 { print ($10 > 0) }' rows)" 1 'a small table evicts'

like "$("$sim" --repeat=3 --work=1 --size=1K trace)" '1K  *4 round-robin .* [0-9]*\.[0-9][0-9]$' \
	'the time per sample is measured'

refuses() {
	"$sim" --repeat=0 "$1" >output 2>errors
	is "$?:$(grep -c "$2" errors)" 1:1 "$3"
}
head -c 1000 trace >cut
refuses cut 'ends too early' 'a cut trace is refused'
head -c 16 trace >empty
refuses empty 'no samples' 'so is an empty one'
refuses "$srcdir/t/tap.sh" 'not in a format' 'and a file of another kind'
{ head -c 8 trace; printf '\377'; tail -c +10 trace; } >newer
refuses newer 'newer version' 'and one of a later version'
{ cat trace; tail -c +17 trace; } >backwards
refuses backwards 'damaged' 'and one whose time goes backwards'
refuses missing 'No such file' 'and one that is not there'
