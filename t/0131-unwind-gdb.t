#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains from registers, a copy of the stack and unwind tables are those that gdb
# finds in the running process: C and C++, with and without frame pointers, static and
# stripped programs, and frames in libc.
. "$srcdir/t/tap.sh"
: "${CXX:=g++}"
need gdb "${CXX%% *}"
plan 39

mkfifo said

# stands HOW: starts the program; process $pid waits in its innermost frame.
stands()
{
	./standing "$1" >said &
	pid=$!
	tap_pids="$tap_pids $pid"
	read -r _ <said || bail "$1: it does not stand"
}

# falls: ends the process and waits for its end, so that the next reader of the FIFO does
# not see the end of this writer.
falls()
{
	kill $pid
	wait $pid
}

# A line for each thread: its PCs, innermost first.
gdb_chains()
{
	gdb -nx -p $pid -batch -x "$srcdir/t/gdb_chains.py" </dev/null 2>/dev/null |
		sed -n 's/^chain //p' | sort
}

our_chains()
{
	cut -d' ' -f3- ours.out | sort
}

# compare HOW END NAME: compares whole chains. A leaf function runs on, so of it only the
# callers are compared.
compare()
{
	stands "$1"
	gdb_chains >gdb.out
	"$builddir/t/unwind_dump" $pid >ours.out
	is "$(cut -d' ' -f2 ours.out | sort -u)" "$2" "$3, $1: every chain ends as $2"
	case $1 in
	leaf)
		is "$(our_chains | cut -d' ' -f2-)" "$(cut -d' ' -f2- gdb.out)" \
			"$3, $1: the callers are those of gdb"
		;;
	signal) # the handler's stack is not the program's
		is "$(cut -d' ' -f1-"$(our_chains | wc -w)" gdb.out)" "$(our_chains)" \
			"$3, $1: the chain is the beginning of gdb's chain"
		;;
	*)
		is "$(our_chains)" "$(cat gdb.out)" "$3, $1: the chains are those of gdb"
		;;
	esac
	falls
}

build()
{
	# shellcheck disable=SC2086 # a list of options
	$CXX $1 -o standing "$srcdir/t/programs/standing.cc" -lpthread 2>build.log
	ok $? "the program compiles with $1"
}

cc_flags='-O2 -fomit-frame-pointer'
build "$cc_flags"
stands leaf
"$builddir/t/unwind_dump" $pid >ours.out 2>&1
status=$?
falls
if [ $status -eq 77 ]; then
	skip 38 'libunwind is not built in'
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

# The page where the code begins has bytes of another segment before it.
cc_flags='-O2 -fomit-frame-pointer -fuse-ld=lld'
if command -v ld.lld >/dev/null; then
	build "$cc_flags"
	for how in handler exception; do
		compare "$how" root "$cc_flags"
	done
else
	skip 5 'no lld here'
fi

# cpi-unwind does the same in a process of its own.
like "$("$builddir/t/unwind_peer" bench 100 30 2>&1)" '^stacks 100, root 100,' \
	'cpi-unwind follows every stack to its root'
like "$("$builddir/t/unwind_peer" garbage 1 2>&1)" '^stacks 1, root 1,' \
	'cpi-unwind follows a stack after malformed messages'
