#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Node.js says what it compiles, in a map or in a jitdump with the code.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need node
plan $((nr_stored_tests + 11))

# in_procedures GLOB: samples of these, of all epochs.
in_procedures()
{
	cpi prof --db "$db" --epoch all --image '[[]jit:node]' --procedure "$1" \
		--format=csv 2>/dev/null | awk -F, 'NR > 1 { n += $1 } END { print n + 0 }'
}

# quiet EPOCH: unknown samples of node, per thousand of its samples.
quiet()
{
	sql "SELECT 1000 * total(n * (image = 0)) / total(n) FROM comm
		WHERE comm = 'node' AND epoch = $1"
}

# Where V8 inlines one into the loop around both, that has its samples.
apart=--no-turbo-inlining
collect_start -F 1000 --sweep 1s
run 'node runs with a map' node $apart --perf-basic-prof "$srcdir/t/programs/jit.js" 4000
cpid_ask epoch dump >/dev/null
run 'and with a jitdump' node $apart --perf-prof "$srcdir/t/programs/jit.js" 4000
rm -f jit-*.dump isolate-*.log
collect_stop
check_stored
forget_maps

part=$(($(samples node '*') / 4))
bound "$(in_procedures '*fibonacci *jit.js*')" '>=' $part 'its functions have names'
bound "$(in_procedures '*primes *jit.js*')" '>=' $part 'all of them'
# What is compiled anew at an address that was in use cannot be told apart within a batch.
bound "$(quiet 1)" '<=' 20 'with a map few samples of node are unknown'
bound "$(quiet 2)" '<=' 2 'with a jitdump 0.2 % at most'
name=$(sql "SELECT name FROM symbol s JOIN code c USING (image, start)
	WHERE name GLOB '*primes *jit.js*' ORDER BY length(bytes) DESC LIMIT 1")
try 'code was stored' test -n "$name"
cpi list --db "$db" --epoch 2 --asm "$name" >list.txt 2>list.err
like "$(cat list.txt)" '  *[1-9][0-9]* .* [a-z][a-z]* ' 'it is listed'
unlike "$(cat list.txt)" 'Only the sampled offsets' 'with every instruction'
cpi calc --db "$db" --epoch 2 "$name" >calc.txt 2>calc.err
like "$(cat calc.txt)" 'CPI' 'and explained'
