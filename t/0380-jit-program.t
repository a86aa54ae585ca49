#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program makes procedures at run time, one after the other, at one address. Each sample
# is in the procedure that was there at its time, and reports do not need the process.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 22))

# rows NAME: how many rows the procedure has, and the samples in them.
rows()
{
	cpi prof --db "$db" --image '[[]jit:jit]' --procedure "$1" --format=csv 2>/dev/null |
		awk -F, 'NR > 1 { n += $1; rows++ } END { print rows + 0, n + 0 }'
}

# strays NAME OFFSET: its samples outside its loop, which begins at this offset.
strays()
{
	start=$(sql "SELECT start FROM symbol WHERE name = '$1'")
	sql "SELECT json_extract(value, '\$.offset'), json_extract(value, '\$.n')
		FROM json_each(readfile('cat.json'), '\$.counts')" :memory: | tr '|' ' ' >counts
	n=0
	while read -r offset samples; do
		offset=$((offset - start))
		[ $offset -lt 0 ] || [ $offset -ge 256 ] ||
			{ [ $offset -ge "$2" ] && [ $offset -lt $(($2 + 16)) ]; } ||
			n=$((n + samples))
	done <counts
	echo $n
}

# has NAME OFFSET MS: the procedure has one row, with so many samples, in its loop; 3 tests
has()
{
	is "$(rows "$1" | cut -d' ' -f1)" 1 "$1 has one row"
	bound "$(rows "$1" | cut -d' ' -f2)" '>=' "$3" "$1 has most of its samples"
	# The way to the loop takes 1 in 3000 of the time: of 2500 samples 0.8 are expected.
	# On a machine with 200 runnable threads there were 6, as a thread that waited for a
	# CPU is often sampled where it goes on. Samples of a neighbour would be a thousand.
	bound "$(strays "$1" "$2")" '<=' 25 "$1 has no samples of the procedures before and after it"
}

collect_start -F 1000 --sweep 250ms
run 'a program with a map runs' "$programs/jit" 2500 map_a map_b
run 'a program with a jitdump runs' "$programs/jit" -d 2500 dump_a dump_b
run 'a program that writes its map late runs' "$programs/jit" -l 600 late
run 'a program with code in a memfd runs' "$programs/jit" -m 300 memfd
run 'the program with code in a memfd runs again' "$programs/jit" -m 300 memfd
run 'a program that announces no code runs' "$programs/jit" -n 400 never
collect_stop
check_stored
rm -f jit-*.dump
forget_maps

cpi cat --db "$db" --image '[[]jit:jit]' --format=json >cat.json
# Only the last line of a map has a known time, that of the file. So samples between two
# readings of the map, with a new line in between, are ambiguous. With a jitdump, samples
# of two procedures in one batch are. On a busy machine a batch is longer than 250 ms.
has map_a 0 1250
has map_b 64 1250
has dump_a 0 1500
has dump_b 64 1500
is "$(rows late | cut -d' ' -f1)" 1 'code that was announced late has one row'
is "$(rows memfd | cut -d' ' -f1)" 1 'equal code of two processes is one row'
bound "$(samples jit '[[]unknown]')" '>=' 200 'samples of code that was not announced have no image'
