#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# After kill -9 the kernel has none of cpid's programs and maps, and another cpid can start.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need bpftool
plan $((nr_stored_tests + 5))

# held NAME: the numbers of the programs or maps that the daemon holds.
held()
{
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$cpid_pid"/fdinfo/* | sort -un
}

# none_stays KIND ID...: whether the kernel has none of these any more.
none_stays()
{
	none_kind=$1
	shift
	for none_id; do
		! bpftool "$none_kind" show id "$none_id" >show.out 2>&1 || return 1
	done
}

collect_start -F 1000
await_samples 100
progs=$(held prog_id)
maps=$(held map_id)
note "programs:" $progs "maps:" $maps
# shellcheck disable=SC2086 # lists of words
{
	try 'cpid has programs and maps in the kernel' test -n "$progs" -a -n "$maps"
	kill -KILL "$cpid_pid"
	cpid_wait
	try 'the programs of a killed cpid are removed' await none_stays prog $progs
	try 'the maps of a killed cpid are removed' await none_stays map $maps
}
collect_start -F 1000 --sweep 100ms
await_samples 100
has_samples 100
ok $? 'another cpid samples after the kill'
collect_stop
check_stored
