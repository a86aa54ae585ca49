#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Node.js announces what it compiles, in a map, or in a jitdump with the code.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need node
plan $((nr_stored_tests + 11))

# in_procedures GLOB: the samples of these procedures, of all epochs.
in_procedures()
{
	cpi prof --db "$db" --epoch all --image '[[]jit:node]' --procedure "$1" \
		--format=csv 2>/dev/null | awk -F, 'NR > 1 { n += $1 } END { print n + 0 }'
}

# unknown_at_most EPOCH SHARE NAME: a test of the samples of node without an image.
unknown_at_most()
{
	share_at_most "$(sql "SELECT total(n) FROM comm
		WHERE comm = 'node' AND image = 0 AND epoch = $1")" \
		"$(sql "SELECT total(n) FROM comm WHERE comm = 'node' AND epoch = $1")" "$2" "$3"
}

# Without inlining: else the loop around both functions has the samples of one.
apart=--no-turbo-inlining
collect_start -F 1000 --sweep 1s
run 'node runs with a map' node $apart --perf-basic-prof "$srcdir/t/programs/jit.js" 4000
cpid_ask epoch dump >/dev/null
run 'node runs with a jitdump' node $apart --perf-prof "$srcdir/t/programs/jit.js" 4000
rm -f jit-*.dump isolate-*.log
collect_stop
check_stored
forget_maps

part=$(($(samples node '*') / 4))
bound "$(in_procedures '*fibonacci *jit.js*')" '>=' $part 'samples have the name of the first function'
bound "$(in_procedures '*primes *jit.js*')" '>=' $part 'samples have the name of the second function'
# Within a batch, code cannot be told from the code that was at its address before.
unknown_at_most 1 0.02 'with a map at most 2 % of the samples have no image'
unknown_at_most 2 0.002 'with a jitdump at most 0.2 % of the samples have no image'
name=$(sql "SELECT name FROM symbol s JOIN code c USING (image, start)
	WHERE name GLOB '*primes *jit.js*' ORDER BY length(bytes) DESC LIMIT 1")
try 'the code of a function is stored' test -n "$name"
cpi list --db "$db" --epoch 2 --asm "$name" >list.txt 2>list.err
like "$(cat list.txt)" '  *[1-9][0-9]* .* [a-z][a-z]* ' 'cpi list lists the function'
unlike "$(cat list.txt)" 'Only offsets with samples' 'cpi list has every instruction of the function'
cpi calc --db "$db" --epoch 2 "$name" >calc.txt 2>calc.err
like "$(cat calc.txt)" 'CPI' 'cpi calc explains the function'
