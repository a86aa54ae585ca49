#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One pass from samples to a report with each collector that is possible here. Nothing
# depends on how many samples there are: t/0301 and those after it look closer.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"

nr_pass_tests=$((nr_stored_tests + 5))

# pass COLLECTOR: samples a program with it, and asks for a report.
pass()
{
	collector=$1 db=$1.db
	if ! cpid_start --db "$db" -F 500 -e cpu-clock --collector "$collector" --windows off; then
		skip $nr_pass_tests "the collector $1 cannot be used here: $(tail -n 1 t.log)"
		return
	fi
	"$programs/burn_a" 600000 >/dev/null &
	pass_burn=$!
	tap_pids="$tap_pids $pass_burn"
	await_samples 100
	check_status "$1"
	until_seen "$1"
	kill "$pass_burn"
	collect_stop
	check_stored
	is "$(sql 'SELECT DISTINCT source FROM stream')" "$1" "$1: the stream names its collector"
	like "$(cpi prof --db "$db" --by image)" ' [^ ]*/burn_a$' "$1: cpi prof lists the program"
}

# until_seen NAME: flushes until the program has samples in the database.
until_seen()
{
	await has_program
	ok $? "$1: the program has samples after a flush"
}

has_program()
{
	cpid_ask flush >/dev/null &&
		[ "$(sql "SELECT count(*) FROM image WHERE name GLOB '*/burn_a'")" -gt 0 ]
}

collectors="perf bpf"
[ ! -e /dev/cpi ] || collectors="$collectors kmod"
plan $(($(echo $collectors | wc -w) * nr_pass_tests))
for name in $collectors; do
	pass $name
done
