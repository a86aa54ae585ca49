#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One recording is read in every form of the file. Recordings that perf makes here are
# read as perf reads them.
. "$srcdir/t/tap.sh"
need python3 zstd
plan 31

dump=$builddir/t/perfdata_dump
"$srcdir/t/perfdata_make.py" little file >one || bail 'no recording'
"$dump" one >want
is "$(grep -c '^s' want)" 6 'a made-up recording has its samples'
is "$(sed -n 's/^s [a-z:-]* [0-9/]* //p' want | sort -c && echo sorted)" sorted \
	'samples are ordered by time'
for form in 'big file' 'little pipe' 'big pipe' 'little file zstd' 'big pipe zstd'; do
	# shellcheck disable=SC2086
	"$srcdir/t/perfdata_make.py" $form >other
	"$dump" other >got
	cmp want got >&2
	ok $? "$form: the samples are those of the little-endian file"
done
"$dump" - <other >got
cmp want got >&2
ok $? 'standard input: the samples are those of the little-endian file'

# The epoch that an import makes.
cpi import -o one.db --label made one >out
like "$(cat out)" '10 samples, 4 of them lost by perf, 2 without an image' \
	'cpi import counts samples, lost samples and samples without an image'
head -c 300 one >cut
cpi import -o none.db cut >out 2>&1
is "$?,$(echo none.db*)" '1,none.db*' 'an import that fails makes no database'
cpi import -o one.db cut >out 2>&1
is "$?,$(cpi epoch list --db one.db --format=csv | wc -l | tr -d ' ')" 1,2 \
	'an import that fails changes nothing in a database'
cpi cat --db one.db --format=csv >rows
is "$(sed -n 's/^"*\(\/bin[^,"]*\)"*,file,\([0-9a-f]*\),"*\([a-z:-]*\)"*,import,.*,"*\(0x[0-9a-f]*\)"*,\([0-9]*\),.*/\1 \2 \3 \4 \5/p' rows | sort)" \
	'/bin/first 000102030405060708090a0b0c0d0e0f10111213 cycles:upp 0x1123 2
/bin/first 000102030405060708090a0b0c0d0e0f10111213 page-faults 0x1456 1
/bin/second  cycles:upp 0x123 1' "a forked process has its parent's mappings, an exec'd one has not"
cpi epoch list --db one.db --format=json >epochs
like "$(cat epochs)" '"from": *"2023-11-14T22:13:20Z"' \
	"the epoch begins at the recording's real time"
like "$(cat epochs)" '"host": *"elsewhere"' "the epoch has the recording's host"
like "$(cat epochs)" '"label": *"made"' 'the epoch has the label of --label'

# Of a 32-bit kernel, when mappings had no protection, with damage in the header.
"$srcdir/t/perfdata_make.py" little file old >old
cpi import -o old.db old >out 2>err
like "$(cat out)" '11 samples, 4 of them lost by perf, 1 without an image' \
	'an old recording is imported'
is "$(cat err)" 'cpi: warning: old: header feature 2 is damaged: it is left out
cpi: warning: old: header feature 8 is damaged: it is left out' \
	'each damaged feature of the header is left out, with a warning'
cpi cat --db old.db --format=csv >rows
like "$(cat rows)" '[[]kernel[]],kernel,.*0x100' \
	'an address of a 32-bit kernel is the kernel'"'"'s'
is "$(grep -c '^"*/bin/first' rows)" 2 'a mapping without a protection is a mapping'

# Damage.
head -c 300 one >cut
cpi import -o cut.db --keep-partial cut >out 2>&1
is $? 1 '--keep-partial fails on a recording that ends in its header'
head -c 1500 one >cut
cpi import -o cut.db --keep-partial cut >out 2>&1
is $? 0 '--keep-partial keeps the samples of a recording that ends in its data'
rm -f cut.db
"$srcdir/t/perfdata_make.py" little pipe >pipe
head -c "$(($(wc -c <pipe) - 100))" pipe >cut
cpi import -o cut.db cut >out 2>&1
is $? 1 'a truncated pipe recording is refused'
cpi import -o cut.db --keep-partial cut >out 2>&1
is $? 0 '--keep-partial keeps the beginning of a truncated recording'
like "$(cat out)" 'what comes before is kept' 'the message says that the beginning is kept'
is "$(cpi cat --check --db cut.db >/dev/null 2>&1; echo $?)" 0 \
	'the database of a truncated recording is not damaged'
echo text >no
cpi import -o no.db no >out 2>&1
like "$(cat out)" 'this is no perf.data file' 'a text file is refused as no recording'

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
	ok $? "perf record $how: $(wc -l <want) samples are those that perf shows"
done
perf record -qe cpu-clock -z -o - -- sort "$srcdir"/t/*.t 2>err >pipe.data
perf script -i pipe.data -F time 2>/dev/null | wc -l >want
"$dump" - <pipe.data | grep -c '^s' >got
[ "$(cat want)" -gt 0 ] && cmp want got >&2
ok $? 'perf record -z into a pipe: perf shows as many samples'
