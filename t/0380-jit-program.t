#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Code that a program makes at run time, all of it at one address: each sample is in the
# procedure that was there then, and reports need no process.
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

# strays NAME OFFSET: samples of it that are not in its own loop, which begins there.
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

# has NAME OFFSET MS: the procedure has one row, with its time, all of it in its loop.
has()
{
	is "$(rows "$1" | cut -d' ' -f1)" 1 "$1 has one row"
	bound "$(rows "$1" | cut -d' ' -f2)" '>=' "$3" "$1: most of its time is found"
	# The way to the loop takes 1 in 3000 of the time.
	bound "$(strays "$1" "$2")" '<=' 9 "$1: no sample is of what was there before or after"
}

collect_start -F 1000 --sweep 500ms
run 'a program with a map runs' "$programs/jit" 5000 map_a map_b
run 'one with a jitdump' "$programs/jit" -d 5000 dump_a dump_b
run 'one whose map comes late' "$programs/jit" -l 600 late
run 'one whose code is in a memfd' "$programs/jit" -m 300 memfd
run 'and the same again' "$programs/jit" -m 300 memfd
run 'one that tells nothing' "$programs/jit" -n 400 never
collect_stop
check_stored
rm -f jit-*.dump
forget_maps

cpi cat --db "$db" --image '[[]jit:jit]' --format=json >cat.json
# Of a map nobody knows when a line was written, but for the file's last: what was taken
# between two readings with a line between them is ambiguous. So is, of a jitdump, what
# one batch has of two procedures; a busy machine makes it longer than 500 ms.
has map_a 0 2500
has map_b 64 2500
has dump_a 0 3000
has dump_b 64 3000
is "$(rows late | cut -d' ' -f1)" 1 'what was told late has its row'
is "$(rows memfd | cut -d' ' -f1)" 1 'equal code of two processes is one row'
bound "$(samples jit '[[]unknown]')" '>=' 200 'what nobody told of is unknown'
