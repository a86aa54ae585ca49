#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The simulator of the interrupt handler's table, on a recorded trace. It checks that each
# variant of the table returns every sample.
. "$srcdir/t/tap.sh"
plan 15

sim=$builddir/t/bench/table_sim
gzip -dc "$srcdir/t/fixtures/trace/mixed.raw.gz" >trace
nr=$((($(stat -c %s trace) - 16) / 32))

"$sim" --repeat=0 --format=csv trace >rows 2>errors
is $? 0 'all variants return every sample'
is "$(cat errors)" '' 'the simulator prints no error'
is "$(sed 1d rows | wc -l)" 63 'there are nine variants in seven sizes'
is "$(sed 1d rows | cut -d, -f8 | sort -u)" "$nr" 'each variant takes every sample'

# A table that never evicts returns each key of a CPU once in 10 s.
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
	'tables that never evict return each key once per sweep'
is "$(awk -F, -v best="$best" 'NR > 1 && $13 > best' rows)" '' 'no table returns fewer entries'
is "$(awk -F, 'NR > 1 && $10 > $8 * $9 + 0.5' rows)" '' 'nothing is evicted without a miss'
is "$(awk -F, '$2 == 1 && $1 == 1024 { print ($10 > 0) }' rows)" 1 'a small table evicts entries'

like "$("$sim" --repeat=3 --work=1 --size=1K trace)" '1K  *4 round-robin .* [0-9]*\.[0-9][0-9]$' \
	'the time per sample is measured'

refuses() {
	"$sim" --repeat=0 "$1" >output 2>errors
	is "$?:$(grep -c "$2" errors)" 1:1 "$3"
}
head -c 1000 trace >cut
refuses cut 'ends too early' 'a cut trace is refused'
head -c 16 trace >empty
refuses empty 'no samples' 'an empty trace is refused'
refuses "$srcdir/t/tap.sh" 'not in a format' 'a file of another kind is refused'
{ head -c 8 trace; printf '\377'; tail -c +10 trace; } >newer
refuses newer 'newer version' 'a trace of a later version is refused'
{ cat trace; tail -c +17 trace; } >backwards
refuses backwards 'damaged' 'a trace whose time goes backwards is refused'
refuses missing 'No such file' 'a missing trace is refused'
