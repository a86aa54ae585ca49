#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks by unwind tables through code that was made at run time. That of our program
# has no frame pointers, and its jitdump has unwind tables or says that there are none.
# That of Node.js has frame pointers.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need python3
[ -x "$builddir/helpers/cpi-unwind" ] || skip_all 'libunwind is not built in'
plan 8

# sampled DATABASE COMM MARKS LEAST: "SAMPLES COMPLETE" of the samples of COMM in such code:
# how many there are, and how many of their chains have one of the marks and at least so
# many frames.
sampled()
{
	cpi cat --stacks --db "$1" --comm "$2" --format=csv | python3 -c '
import csv, sys
every = good = 0
for row in csv.DictReader(sys.stdin):
    frames = [f for f in row["frames"].split(";") if not f.startswith("[kernel]")]
    if frames and frames[0].startswith("[jit:"):
        every += int(row["n"])
        if row["mark"] in sys.argv[1].split("|") and len(frames) >= int(sys.argv[2]):
            good += int(row["n"])
print(every, good)' "$3" "$4"
}

record_dwarf()
{
	out=$1
	shift
	cpi record -g dwarf --stacks-freq 199 -F 19 -o "$out" -- "$@"
}

# The callers are at least main() and _start().
try 'a program with unwind tables runs' record_dwarf known.db "$programs/jit" -d -t 1000 first second
sampled known.db jit ended 3 >counts
read -r samples complete <counts
bound "$samples" '>=' 100 'code with unwind tables has samples'
share_at_least "$complete" "$samples" 0.98 'chains from code with unwind tables are complete'

try 'a program without unwind tables runs' record_dwarf unknown.db "$programs/jit" -d -u 1000 first second
sampled unknown.db jit 'ended|guessed' 3 >counts
read -r samples complete <counts
bound "$samples" '>=' 100 'code without unwind tables has samples'
share_at_most "$complete" "$samples" 0.01 'chains from code without unwind tables are not taken as complete'
rm -f jit-*.dump

if command -v node >/dev/null; then
	try 'Node.js runs' record_dwarf node.db node --perf-prof --perf-prof-unwinding-info \
		--always-sparkplug "$srcdir/t/programs/jit_stacks.js" 2000
	sampled node.db node 'ended|guessed' 3 >counts
	read -r samples complete <counts
	# Frame pointers miss the caller in the first and last instructions of a function.
	if [ "$samples" -ge 20 ]; then
		share_at_least "$complete" "$samples" 0.8 'chains from code of Node.js are complete'
	else
		skip 1 "Node.js announced its code too late: $samples samples"
	fi
	rm -f jit-*.dump isolate-*.log
else
	skip 2 'node is missing'
fi
