#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Of very many rows cpi fleet top reads sums of days and hours, or a random part of them.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan "$(store_tests 20)"

MKDB_UNIT=cycles "$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
"$builddir/t/bench/fleet_hosts" known.db many.db 1 8 30 6000 >/dev/null || bail 'no machines'

# top ARGS...: what costs most, but for the error
top()
{
	cpi fleet top --db "$url" --epoch 2026-01-01.. --format csv "$@" 2>fleet.err | cut -d, -f1,3-
}

# near MESSAGE: the rows of estimate.json are those of exact.json, as far as their errors say.
near()
{
	python3 - <<END
import json
exact, estimate = (json.load(open(f"{n}.json")) for n in ("exact", "estimate"))
known = {(r["procedure"], r["image"]): r["samples"] for r in exact["rows"]}
rows = [r for r in estimate["rows"] if r["samples"] // estimate["thinned"] >= 50]
assert rows and estimate["thinned"] == $2 and exact["thinned"] == 1, estimate["thinned"]
for r in rows:
    n = known[r["procedure"], r["image"]]
    # The error is half of a 95 % interval.
    assert abs(r["samples"] - n) <= 2.5 * r["error_percent"] / 100 * n, (r, n)
END
	ok $? "$1"
}

# gone TABLE LOT: it has no rows of the lot.
gone()
{
	[ "$(store_sql "SELECT count() FROM $1 WHERE lot = $2")" = 0 ]
}

# one_engine NAME: 20 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi store_db=cpi
	cpi fleet init --db "$url" >/dev/null &&
		cpi-ship --store "$url" --budget 100 --rate 0 --once --db many.db 2>ship.log || bail "not shipped: $(cat ship.log)"
	top >rows.out
	top --by image >images.out
	[ "$(wc -l <rows.out)" -gt 2 ] || bail "no rows: $(cat fleet.err)"
	cpi fleet top --db "$url" --epoch 2026-01-01.. --format json >exact.json
	is "$(store_sql 'SELECT sum(n) FROM profile WHERE counter = 0 AND context = 0')" \
		"$(sqlite3 many.db 'SELECT sum(total) FROM profile WHERE kind = 0')" "$1: all samples are there"
	like "$(store_sql 'SELECT min(level), max(level) FROM thin_profile')" '^2	[5678]$' "$1: and the thinned levels of them"

	# The same rows, said to be a hundred thousand times as many.
	store_sql 'ALTER TABLE epoch UPDATE nr_rows = nr_rows * 100000 WHERE 1'
	await sh -c "[ \$(curl -sS --data-binary 'SELECT min(nr_rows) > 100000 FROM epoch' \
		'http://127.0.0.1:$store_port/?database=cpi') = 1 ]" || bail 'no more rows'
	is "$(top --exact)" "$(cat rows.out)" "$1: --exact reads all rows"
	cpi fleet top --db "$url" --epoch 2026-01-01.. --format json >estimate.json
	near "$1: without --exact a random part is read, and the shown error covers the difference" 25
	like "$(cpi fleet top --db "$url" --epoch 2026-01-01..)" 'Estimated from one in 25 samples' "$1: a line says that the result is an estimate"
	cpi fleet top --db "$url" --epoch 2026-01-01.. --host 'h0000[1-4]' --format json >estimate.json
	cpi fleet top --db "$url" --epoch 2026-01-01.. --host 'h0000[1-4]' --exact --format json >exact.json
	near "$1: the same for some hosts" 25
	store_sql 'ALTER TABLE epoch UPDATE thinned = 0 WHERE host = 1'
	await sh -c "[ \$(curl -sS --data-binary 'SELECT min(thinned) FROM epoch' \
		'http://127.0.0.1:$store_port/?database=cpi') = 0 ]" || bail 'still thinned'
	is "$(top)" "$(cat rows.out)" "$1: all rows of an older cpi-ship are read"

	like "$(cpi fleet roll --db "$url")" '^2 days and 30 hours added up' "$1: days and hours are added up"
	store_sql 'TRUNCATE TABLE profile'
	is "$(top)" "$(cat rows.out)" "$1: days alone give the time of procedures"
	is "$(top --by image)" "$(cat images.out)" "$1: days alone give the time of images"
	# The day before has many rows, which begin too early to be read.
	store_sql 'ALTER TABLE epoch UPDATE thinned = 1 WHERE 1'
	await sh -c "[ \$(curl -sS --data-binary 'SELECT min(thinned) FROM epoch' \
		'http://127.0.0.1:$store_port/?database=cpi') = 1 ]" || bail 'not thinned'
	is "$(cpi fleet top --db "$url" --epoch 2026-01-03 --format json |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["thinned"])')" 1 \
		"$1: the sums of a day are read also if the day before has many rows"
	store_sql 'TRUNCATE TABLE day'
	is "$(top)" "$(cat rows.out)" "$1: hours alone give the time of procedures"

	# What was replaced or never completed is removed after a time.
	store_sql 'INSERT INTO lot (lot, made) SELECT 7, now() - 100000'
	store_sql 'INSERT INTO hour_place (hour, lot, n) SELECT 490000, 7, 1'
	like "$(cpi fleet roll --db "$url")" ', 1 old sums removed' "$1: sums that were never completed are removed"
	await gone hour_place 7
	ok $? "$1: the rows of these sums are removed"
	is "$(top)" "$(cat rows.out)" "$1: all other sums stay"

	# A report that has found sums can read their rows to its end: they go a run later.
	store_sql 'INSERT INTO lot (lot, made) SELECT arrayJoin([8, 9]), now() - 100000'
	for lot in 8,100000 9,90000; do
		store_sql "INSERT INTO hour (hour, lot, nr, hash, made) SELECT 490000, ${lot%,*}, 1, 1, now() - ${lot#*,}"
		store_sql "INSERT INTO hour_place (hour, lot, n) SELECT 490000, ${lot%,*}, 1"
	done
	unlike "$(cpi fleet roll --db "$url")" '[1-9] old sums removed' "$1: rows of sums that were replaced are not removed yet"
	await gone hour 8
	ok $? "$1: but no report finds these sums any more"
	is "$(store_sql 'SELECT count() FROM hour_place WHERE lot = 8')" 1 "$1: a report that found them before can read their rows"
	like "$(cpi fleet roll --db "$url")" ', 1 old sums removed' "$1: the next run removes the rows"
	await gone hour_place 8
	is "$? $(store_sql 'SELECT (SELECT count() FROM hour WHERE lot = 9), count() FROM hour_place WHERE lot = 9')" '0 1	1' \
		"$1: the sums that replaced them stay"
}

each_store one_engine
