#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Whatever fails while epochs are shipped: rows in the store are rows flushed, none twice.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan "$(store_tests 17)"

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
for n in 1 2 3 4 5; do
	MKDB_HOST=h$n "$builddir/t/mkdb" h$n.db "$builddir/t/target" || bail 'mkdb failed'
done

# A machine with 22 hours, of which a budget of bytes keeps a part.
"$builddir/t/bench/fleet_hosts" known.db hours.db 1 1 22 4000 >/dev/null || bail 'fleet_hosts failed'

# sums HOST DB: flushes, received, stored, losses, samples: of a host's database
sums()
{
	sqlite3 "$1.db" "SELECT (SELECT sum(merged + 1) FROM flush), (SELECT sum(received) FROM tally),
		(SELECT sum(stored) FROM tally), (SELECT sum(n) FROM loss WHERE kind = 0),
		(SELECT sum(total) FROM profile WHERE kind = 0)" | tr '|' '\t'
}

# ledger: what the machine of hours.db says of each hour
ledger()
{
	sqlite3 hours.db 'SELECT seq, received, stored, lost FROM flush ORDER BY seq' | tr '|' '\t'
}

valid='(host, at, nr) NOT IN (SELECT host, at, nr FROM void)'
# of HOST: a condition on rows of complete shipments
of()
{
	echo "(host, at, nr) IN (SELECT host, at, nr FROM epoch WHERE name = '$1' AND $valid)"
}

# store_sums HOST: the same of its complete shipments
store_sums()
{
	for store_sum in 'sum(merged + 1) FROM flush WHERE 1' 'sum(received) FROM tally WHERE 1' \
		'sum(stored) FROM tally WHERE 1' 'sum(n) FROM loss WHERE kind = 0' \
		'sum(n) FROM profile WHERE counter = 0'; do
		store_sql "SELECT $store_sum AND (host, at, nr) IN (SELECT host, at, nr FROM epoch
			WHERE name = '$1' AND $valid)"
	done | paste -s
}

# proxy SEED PERCENT: sets $url to a way to the store that fails
proxy()
{
	mkfifo end.$1
	python3 "$srcdir/t/faulty_proxy.py" "$store_port" "$1" "$2" <end.$1 >proxy.$1 &
	exec 7>end.$1
	await test -s proxy.$1 || bail 'no proxy'
	url=clickhouse://127.0.0.1:$(sed -n 1p proxy.$1)/cpi
}

proxy_ended()
{
	[ "$(wc -l <proxy.1)" -eq 2 ]
}

# ship DB ARGS...: until all is said to be shipped; at most 200 times
ship()
{
	ship_db=$1 ship_tries=0
	shift
	while [ $ship_tries -lt 200 ]; do
		cpi-ship --store "$url" --budget 100 --rate 0 --once --db "$ship_db" "$@" 2>>ship.log && return 0
		ship_tries=$((ship_tries + 1))
	done
	return 1
}

# one_engine NAME: 17 tests
one_engine()
{
	straight=clickhouse://127.0.0.1:$store_port/cpi
	cpi fleet init --db "$straight" >/dev/null || bail 'no store'
	store_db=cpi

	# Requests that are lost before the store, or whose answers are lost.
	proxy 1 12
	for n in 1 2; do
		ship h$n.db
		is "$? $(store_sums h$n)" "0 $(sums h$n)" "$1: with lost requests and answers host $n is in the store once"
		note "$ship_tries failures"
	done
	# Two shippers of one machine, each losing requests.
	ship h3.db &
	twin=$!
	ship h3.db
	first=$?
	wait $twin
	is "$first $? $(store_sums h3)" "0 0 $(sums h3)" "$1: with two shippers that lose requests the host is in the store once"
	exec 7>&-
	within 10 proxy_ended
	like "$(sed -n 2p proxy.1)" '[0-9]* [1-9][0-9]* [1-9]' "$1: requests were lost before and after the store took them"

	# Two shippers of one machine at the same moment, again and again.
	url=$straight
	raced=0
	for n in $(seq 20); do
		rm -f raced.db*
		MKDB_HOST=raced$n "$builddir/t/mkdb" raced.db "$builddir/t/target" || bail 'mkdb failed'
		ship raced.db &
		twin=$!
		ship raced.db
		wait $twin
		[ "$(store_sums raced$n)" != "$(sums raced)" ] || raced=$((raced + 1))
	done
	is $raced 20 "$1: of two shippers that race each time one has the host in the store"

	# A machine with a budget of bytes, and a restart after each failure: of its samples a
	# part is kept, drawn anew for each attempt.
	budget='--host budget --sums 1h --budget 100,100K'
	proxy 2 25
	ship hours.db $budget
	is "$? $(store_sql "SELECT last_flush, received, stored, lost FROM epoch WHERE name = 'budget' AND $valid
		ORDER BY last_flush")" "0 $(ledger)" "$1: with a budget of bytes each hour is in the store once"
	note "$ship_tries failures"
	is "$(store_sql "SELECT max(one_in) > 1 FROM epoch WHERE name = 'budget' AND $valid") $(store_sql "SELECT count()
		FROM (SELECT kind, stream, sum(received) AS r, sum(stored) AS s FROM tally WHERE $(of budget) GROUP BY kind,
		stream) AS a ANY LEFT JOIN (SELECT kind, stream, sum(n) AS l FROM loss WHERE $(of budget) GROUP BY kind,
		stream) AS b USING kind, stream WHERE r != s + l")" '1 0' \
		"$1: of each stream that was thinned, received = stored + losses"
	is "$(store_sql "SELECT sum(stored) FROM tally WHERE kind = 0 AND $(of budget)")" \
		"$(store_sql "SELECT sum(n) FROM profile WHERE counter = 0 AND $(of budget)")" \
		"$1: the store has just the samples that were kept"
	exec 7>&-

	# A store that is killed again and again while epochs come.
	url=$straight
	ship h4.db &
	shipping=$!
	for _ in 1 2 3; do
		store_kill
		store_run
		store_db=cpi
	done
	wait $shipping
	ship h4.db
	is "$? $(store_sums h4)" "0 $(sums h4)" "$1: a store that was killed has the host once"

	# A machine whose clock is a year ahead, and then right again.
	year=31536000000000000
	cp h5.db ahead.db
	sqlite3 ahead.db "UPDATE epoch SET from_ns = from_ns + $year, to_ns = to_ns + $year;
		UPDATE run SET from_ns = from_ns + $year, to_ns = to_ns + $year;
		UPDATE flush SET from_ns = from_ns + $year, to_ns = to_ns + $year;
		UPDATE platform SET host = 'ahead'" || bail 'no ahead.db'
	cp ahead.db back.db
	sqlite3 back.db "UPDATE platform SET boot_id = boot_id || 'b'; UPDATE run SET from_ns = from_ns - 2 * $year;
		UPDATE epoch SET from_ns = from_ns - 2 * $year, to_ns = to_ns - 2 * $year" || bail 'no back.db'
	ship ahead.db
	is "$? $(store_sums ahead)" "0 $(sums ahead)" "$1: epochs with a clock that is ahead are in the store once"
	ship back.db
	is "$? $(store_sql "SELECT count() FROM epoch WHERE name = 'ahead' AND $valid")" '0 6' \
		"$1: epochs after the clock was set back are in the store once"
	is "$(store_sql 'SELECT count() FROM dropped')" 0 "$1: nothing is reported as missing"

	# The tables are brought up to date while a shipper works.
	ship known.db &
	shipping=$!
	cpi fleet init --db "$straight" >/dev/null
	is "$?" 0 "$1: cpi fleet init works during shipping"
	wait $shipping
	is "$? $(store_sums web1)" "0 $(sums known)" "$1: after that the host is in the store once"

	is "$(store_sql "SELECT countIf(received != stored + lost), count() FROM epoch WHERE $valid")" '0	103' \
		"$1: received = stored + lost in each epoch"
	is "$(store_sql "SELECT count() FROM (SELECT name, boot_id, run_from_ns, first_flush FROM epoch WHERE $valid
		GROUP BY name, boot_id, run_from_ns, first_flush HAVING count() > 1)")" 0 "$1: no epoch is in the store twice"
	is "$(store_sql 'SELECT count() FROM (SELECT number FROM host GROUP BY number HAVING uniqExact(name) > 1)')" 0 \
		"$1: each host has a number of its own"
	rm -f end.1 proxy.1 end.2 proxy.2
}

each_store one_engine
