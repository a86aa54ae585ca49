#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every fuzz target runs through its committed inputs.
. "$srcdir/t/tap.sh"

# has_not CONDITION: whether this Automake condition is false.
has_not()
{
	grep -qF "S[\"$1_TRUE\"]=\"#\"" "$builddir/config.status"
}

# is_left_out TARGET: whether configure found no library for the target.
is_left_out()
{
	case $1 in
	unwind | unwindwire) has_not UNWIND ;;
	window | translate) has_not ZYDIS ;;
	*) false ;;
	esac
}

set -- "$srcdir"/t/fuzz/fuzz_*.c
plan $#
for source; do
	name=$(basename "$source" .c)
	if is_left_out "${name#fuzz_}"; then
		skip 1 "$name is not built: a library is missing"
		continue
	fi
	set -- "$srcdir/t/fuzz/corpus/${name#fuzz_}"/*
	[ -e "$1" ] && "$builddir/t/fuzz/$name" "$@" >&2
	ok $? "$name accepts its $# inputs"
done
