#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks by unwind tables through code that was made at run time: the program's has no
# frame pointers, and a jitdump says how to unwind its frames, or that nobody knows. Node.js's
# has them.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3
[ -x "$builddir/tools/cpi-unwind" ] || skip_all 'libunwind is not built in'
plan 8

# sampled DATABASE COMM MARKS LEAST: of the samples of COMM in such code "SAMPLES PERCENT":
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
print(every, 100 * good / every if every else 0)' "$3" "$4"
}

record()
{
	out=$1
	shift
	cpi record -g dwarf --stacks-freq 199 -F 19 -o "$out" -- "$@"
}

# After the code there are at least main() and _start().
try 'code with tables runs' record known.db "$programs/jit" -d -t 1000 first second
sampled known.db jit ended 3 >counts
read -r samples percent <counts
bound "$samples" '>=' 100 'it has samples'
bound "$percent" '>=' 98 'whose chains end where they began'

try 'code without tables runs' record unknown.db "$programs/jit" -d -u 1000 first second
sampled unknown.db jit 'ended|guessed' 3 >counts
read -r samples percent <counts
bound "$samples" '>=' 100 'it has samples, too'
bound "$percent" '<=' 1 'whose chains do not'
rm -f jit-*.dump

if command -v node >/dev/null; then
	try 'Node.js runs' record node.db node --perf-prof --perf-prof-unwinding-info \
		--always-sparkplug "$srcdir/t/programs/jit_stacks.js" 2000
	sampled node.db node 'ended|guessed' 3 >counts
	read -r samples percent <counts
	# In a function's first and last instructions frame pointers miss its caller.
	if [ "$samples" -ge 20 ]; then
		bound "$percent" '>=' 80 'its chains end where they began'
	else
		skip 1 "it told of its code too late: $samples samples"
	fi
	rm -f jit-*.dump isolate-*.log
else
	skip 2 'node is missing'
fi
