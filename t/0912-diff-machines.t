#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi diff of many machines: a machine is one run, however many epochs it has.
. "$srcdir/t/tap.sh"
need sqlite3

# Two groups of machines. Each machine has a share of gamma of its own, the same in all its
# epochs: chance gave one group more of it. delta takes a third more time in the second.
dbs=
for host in 1 2 3 4 5 6 7 8; do
	case $host in
	1) gamma=1000 ;;
	2) gamma=1180 ;;
	3) gamma=1050 ;;
	4) gamma=900 ;;
	5) gamma=1400 ;;
	6) gamma=1120 ;;
	7) gamma=1260 ;;
	8) gamma=950 ;;
	esac
	label=old delta=2000 h=$((host % 4))
	[ $host -le 4 ] || label=new delta=2660
	for n in 0 1 2 3 4 5; do
		echo "$label 10 1000 alpha=$((4000 + 13 * n + 31 * h)) beta=$((3500 - 9 * n - 23 * h))" \
			"gamma=$((gamma + n)) delta=$((delta - 5 * n + 11 * h)) eta=$((2500 + 7 * n - 17 * h))"
	done >table
	"$builddir/t/runsdb" m$host.db <table || bail 'no database'
	sqlite3 m$host.db "UPDATE platform SET host = 'm$host'" || bail 'no host'
	dbs="$dbs --db m$host.db"
done

plan 9

# found ARGS...: the rows that changed, in order
found()
{
	# shellcheck disable=SC2086 # words
	cpi diff "$@" --history=none --format=csv | awk -F, '$12 == 1 { print $17 }' | sort | paste -s -d ' '
}

# shellcheck disable=SC2086 # words
set -- $dbs
cpi diff old new "$@" >text 2>err
is "$?" 0 'cpi diff compares groups of machines'
like "$(cat text)" '^Variation between machines: [0-9.]*% beyond sampling' 'the text says that machines are the runs'
like "$(cat text)" '^A: old, 24 epochs' 'all epochs count'
is "$(found old new "$@")" delta 'only what differs between the machines by more than chance is found'
is "$(cpi diff old new "$@" --format=json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"])')" machines \
	'JSON has what a run is'
change=$(cpi diff old new "$@" --format=csv | awk -F, '$17 == "delta" { print int($7) }')
is "$change" 32 'the change is that of all epochs' || note "$(cpi diff old new "$@" --format=csv)"

# The same epochs of one machine on each side.
for db in m1 m5; do
	cp $db.db one.$db.db
done
cpi diff old new --db one.m1.db --db one.m5.db >text
like "$(cat text)" '^Variation between epochs: ' 'with fewer machines an epoch is a run'
is "$(found old new --db one.m1.db --db one.m5.db)" 'delta gamma' 'between two machines any difference is found'
is "$(cpi diff old new --db one.m1.db --db one.m5.db --format=json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"])')" \
	epochs 'JSON says so'
