#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One recording in every form, and what this machine's perf makes of itself.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make recordings'
command -v zstd >/dev/null || skip_all 'no zstd to compress them'
plan 24

dump=$builddir/t/perfdata_dump
"$srcdir/t/perfdata_make.py" little file >one || bail 'no recording'
"$dump" one >want
is "$(grep -c '^s' want)" 6 'a recording'
is "$(sed -n 's/^s [a-z:-]* [0-9/]* //p' want | sort -c && echo sorted)" sorted \
	'its samples are in the order of their times'
for form in 'big file' 'little pipe' 'big pipe' 'little file zstd' 'big pipe zstd'; do
	# shellcheck disable=SC2086
	"$srcdir/t/perfdata_make.py" $form >other
	"$dump" other >got
	cmp want got >&2
	ok $? "the same, $form"
done
"$dump" - <other >got
cmp want got >&2
ok $? 'and from a pipe'

# What an epoch has of it.
cpi import -o one.db --label made one >out
like "$(cat out)" '10 samples, 4 of them lost by perf, 2 without an image' 'it is imported'
cpi cat --db one.db --format=csv >rows
is "$(sed -n 's/^"*\(\/bin[^,"]*\)"*,file,\([0-9a-f]*\),"*\([a-z:-]*\)"*,import,.*,"*\(0x[0-9a-f]*\)"*,\([0-9]*\),.*/\1 \2 \3 \4 \5/p' rows | sort)" \
	'/bin/first 000102030405060708090a0b0c0d0e0f10111213 cycles:upp 0x1123 2
/bin/first 000102030405060708090a0b0c0d0e0f10111213 page-faults 0x1456 1
/bin/second  cycles:upp 0x123 1' 'what a fork has of its parent, and an exec has not'
cpi epoch list --db one.db --format=json >epochs
like "$(cat epochs)" '"from": *"2023-11-14T22:13:20Z"' 'real time is the recording'"'"'s own'
like "$(cat epochs)" '"host": *"elsewhere"' 'the machine is its own'
like "$(cat epochs)" '"label": *"made"' 'the label is mine'

# Damage.
head -c 1500 one >cut
cpi import -o cut.db --keep-partial cut >out 2>&1
is $? 1 'what is cut in its header has nothing to keep'
"$srcdir/t/perfdata_make.py" little pipe >pipe
head -c "$(($(wc -c <pipe) - 100))" pipe >cut
cpi import -o cut.db cut >out 2>&1
is $? 1 'a pipe that ends early is refused'
cpi import -o cut.db --keep-partial cut >out 2>&1
is $? 0 'but what came before can be kept'
like "$(cat out)" 'what comes before is kept' 'and it is said'
is "$(cpi cat --check --db cut.db >/dev/null 2>&1; echo $?)" 0 'as a whole database'
echo text >no
cpi import -o no.db no >out 2>&1
like "$(cat out)" 'this is no perf.data file' 'text is no recording'

# This machine's.
if ! command -v perf >/dev/null || ! perf record -qe cpu-clock -o probe.data true 2>err; then
	skip 5 'perf cannot record here'
	exit
fi
for how in '' '-z' '-g --call-graph=dwarf -d' '--intr-regs=ip -k CLOCK_MONOTONIC'; do
	# shellcheck disable=SC2086
	perf record -qe cpu-clock,page-faults $how -o own.data -- sort "$srcdir"/t/*.t >out 2>err
	perf script -i own.data --ns -G -F pid,tid,time,period,event 2>/dev/null |
		sed -E 's|^ *([0-9]+/[0-9]+) +([0-9.]+): +([0-9]+) .*|\1 \2 \3|' |
		grep -E '^[0-9]+/[0-9]+ [0-9.]+ [0-9]+$' >want
	"$dump" own.data | sed -nE 's/^s [^ ]+ ([0-9]+\/[0-9]+ [0-9.]+ [0-9]+) .*/\1/p' >got
	[ -s want ] && cmp want got >&2
	ok $? "perf record $how: $(wc -l <want) samples"
done
perf record -qe cpu-clock -z -o - -- sort "$srcdir"/t/*.t 2>err >pipe.data
perf script -i pipe.data -F time 2>/dev/null | wc -l >want
"$dump" - <pipe.data | grep -c '^s' >got
[ "$(cat want)" -gt 0 ] && cmp want got >&2
ok $? 'perf record -z into a pipe'
