#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Of many epochs the store makes the sums: they are those of the machines' databases.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan "$(store_tests 18)"

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"
# 12 machines with 350 hours each are more epochs than a report lists; and one more machine.
"$builddir/t/bench/fleet_hosts" known.db many.db 1 12 350 40 >/dev/null || bail "fleet_hosts failed"
"$builddir/t/bench/fleet_hosts" known.db late.db 13 1 30 40 >/dev/null || bail "fleet_hosts failed"
sqlite3 many.db "UPDATE epoch SET label = 'load' WHERE id % 350 != 0" || bail 'no labels'

# one_engine NAME: 18 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi
	ship="cpi-ship --store $url --budget 100 --rate 0 --once"
	cpi fleet init --db "$url" >/dev/null && $ship --db many.db 2>ship.log || bail 'nothing was shipped'
	store_agrees "$1" '--db many.db' prof --epoch all --format csv
	like "$(cat fleet.err)" '4200 epochs, added up by the store' "$1: the store adds up the epochs"
	like "$(cpi prof --epoch all --db "$url" 2>/dev/null | head -n 1)" \
		'^[^,]*, [^,]*, [^,]*, [^,]*, [^,]* and 7 more, 2026-01-0' "$1: the first line names a few machines"
	store_agrees "$1" '--db many.db' prof --epoch all --by image --idle --format csv
	store_agrees "$1" '--db many.db' prof --epoch all --by comm --format csv
	store_agrees "$1" '--db many.db' prof --epoch load --format csv
	store_agrees "$1" '--db many.db' prof --epoch 2026-01-02T04:30..2026-01-16T20:30 --format csv
	store_agrees "$1" '--db many.db' list target_hot --epoch all --format csv
	store_agrees "$1" '--db many.db' hot --epoch all --format csv
	like "$(cpi prof --epoch all --db "$url" --over-time 2>&1)" 'reads at most 4096' \
		"$1: a report that needs each epoch refuses so many"

	is "$(cpi fleet roll --db "$url")" '15 days and 350 hours added up, 0 old sums removed' "$1: cpi fleet roll adds up days and hours"
	is "$(cpi fleet roll --db "$url")" '0 days and 0 hours added up, 0 old sums removed' "$1: adding up again changes nothing"
	$ship --db late.db 2>>ship.log || bail 'nothing was shipped'
	store_agrees "$1: reports include epochs that arrived late" '--db many.db --db late.db' prof --epoch all --format csv
	is "$(cpi fleet roll --db "$url")" '2 days and 30 hours added up, 0 old sums removed' "$1: days with late epochs are added up again"
	store_agrees "$1: reports are the same after that" '--db many.db --db late.db' prof --epoch all --format csv
	store_agrees "$1: the report of one host equals that of its database" '--db late.db' prof --epoch all --host h00013 --format csv
	# Without rows of profiles there is only what was added up.
	store_db=cpi
	store_sql 'TRUNCATE TABLE profile'
	store_agrees "$1: a report can be made from the sums alone" '--db many.db --db late.db' prof --epoch all --format csv
	store_agrees "$1: a report can be made from the sums alone" '--db many.db --db late.db' prof --epoch all --by comm --format csv
}

each_store one_engine
