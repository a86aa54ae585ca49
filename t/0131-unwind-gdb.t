#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains from registers, a copy of the stack and unwind tables are those that gdb
# finds in the living process: C and C++, with frame pointers and without, static and
# stripped, and through libc.
. "$srcdir/t/tap.sh"
builddir=$(cd "$builddir" && pwd)
scripts=$(cd "$srcdir" && pwd)/t
for need in gdb "${CXX:=g++}"; do
	command -v "${need%% *}" >/dev/null || skip_all "$need is missing"
done
plan 34

mkfifo said

# stands HOW: starts the program; $pid stands still until it falls.
stands()
{
	./standing "$1" >said &
	pid=$!
	tap_pids="$tap_pids $pid"
	read -r _ <said || bail "$1: it does not stand"
}

# falls: ends it. Waits, so that the next reader of the FIFO does not see the end of
# this writer.
falls()
{
	kill $pid
	wait $pid
}

# Each thread's PCs, innermost first; a line each. By then it stands.
gdb_chains()
{
	gdb -nx -p $pid -batch -x "$scripts/gdb_chains.py" </dev/null 2>/dev/null |
		sed -n 's/^chain //p' | sort
}

our_chains()
{
	cut -d' ' -f3- ours.out | sort
}

# compare HOW END NAME: whole chains; of one that spins, the callers.
compare()
{
	stands "$1"
	gdb_chains >gdb.out
	"$builddir/t/unwind_dump" $pid >ours.out
	is "$(cut -d' ' -f2 ours.out | sort -u)" "$2" "$3, $1: how it ends"
	case $1 in
	leaf)
		is "$(our_chains | cut -d' ' -f2-)" "$(cut -d' ' -f2- gdb.out)" \
			"$3, $1: the callers"
		;;
	signal) # the handler's stack is not the program's
		is "$(cut -d' ' -f1-"$(our_chains | wc -w)" gdb.out)" "$(our_chains)" \
			"$3, $1: the beginning"
		;;
	*)
		is "$(our_chains)" "$(cat gdb.out)" "$3, $1: the chains"
		;;
	esac
	falls
}

build()
{
	# shellcheck disable=SC2086 # a list of options
	$CXX $1 -o standing "$scripts/programs/standing.cc" -lpthread 2>build.log
	ok $? "it compiles with $1"
}

cc_flags='-O2 -fomit-frame-pointer'
build "$cc_flags"
stands leaf
"$builddir/t/unwind_dump" $pid >ours.out 2>&1
status=$?
falls
if [ $status -eq 77 ]; then
	skip 33 'libunwind is not built in'
	exit
fi
for how in recursion callback handler signal exception leaf thread variable; do
	end=root
	[ "$how" != signal ] || end=copy
	compare "$how" $end "$cc_flags"
done
for cc_flags in '-O0' '-O2 -static' '-O2 -no-pie -s'; do
	build "$cc_flags"
	for how in handler exception; do
		compare "$how" root "$cc_flags"
	done
done

# The same in the process that the collectors have for it.
like "$("$builddir/t/unwind_peer" bench 100 30 2>&1)" '^stacks 100, root 100,' \
	'cpi-unwind finds the beginning of a stack'
like "$("$builddir/t/unwind_peer" garbage 1 2>&1)" '^stacks 1, root 1,' \
	'and does so after messages of any kind'
