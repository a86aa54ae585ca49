#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-ship: each epoch counts once in a real store, whatever happened before.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan $((15 + $(store_tests 36)))

bad 'status 2: .*name a store' 'cpi-ship without a store is refused' cpi-ship --once
bad 'status 2: .*--store: "file.db" is no valid URL' 'a file as store is refused' cpi-ship --store file.db
bad 'status 2: .*is no HOST' 'a host with a space is refused' cpi-ship --once --store 'clickhouse://a b/cpi'
bad 'status 2: .*no name of a database' 'a database name with a semicolon is refused' \
	cpi-ship --once --store 'clickhouse://a/c;d'
bad "status 2: .*'pass' is not among user" 'an unknown parameter of the URL is refused' \
	cpi-ship --once --store 'clickhouse://a/cpi?pass=x'
bad 'status 2: .*--budget: "0" is no valid PERCENT' 'a budget of 0 is refused' cpi-ship --budget 0
bad 'status 2: .*one argument too many' 'an argument is refused' \
	cpi-ship --store clickhouse://a/b c
bad 'status 2: .*only a machine' 'a store as --db is refused' \
	cpi-ship --store clickhouse://a/b --db clickhouse://c/d
bad 'status 2: .*name one store' 'cpi fleet without a store is refused' cpi fleet init --db file.db
bad 'status 2: .*say init' 'an unknown subcommand of cpi fleet is refused' cpi fleet nonsense --db clickhouse://a/b
echo secret >open.password
chmod 644 open.password
bad "status 1: [^$(printf '\t')]*other users have rights" 'a password that others can read is refused' \
	cpi-ship --once --store 'clickhouse://127.0.0.1:1/cpi?user=shipper&password-file=open.password'
# shellcheck disable=SC2046 # one word
set -- $(free_ports 1)
bad 'no ClickHouse answers there' 'a store that does not answer is an error' \
	cpi-ship --once --store "clickhouse://127.0.0.1:$1/cpi"
store_silent
silent="clickhouse://127.0.0.1:$(cat silent.out)/cpi"
{
	sh -c 'echo $$ >silent.pid; exec cpi-ship --store "$0"' "$silent" 2>/dev/null
	echo $? >silent.status
} &
await grep -q asked silent.out || bail 'nothing was asked'
kill "$(cat silent.pid)"
within 30 test -s silent.status
is "$(cat silent.status)" 0 'a signal ends cpi-ship while it waits for a silent store'
is "$(cpi-ship --help | sed -n 's/^  .\{4\}--\([a-z]*\).*/\1/p' | sort)" \
	"$(sed -n 's/^\.It .*Fl -\([a-z]*\).*/\1/p' "$srcdir/man/cpi-ship.8" | sort)" \
	'cpi-ship(8) describes the options'
is "$(cpi-ship --version)" "$(cpi --version | sed 's/^cpi /cpi-ship /')" 'cpi-ship and cpi have the same version'

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"
# The first run's epochs as an hour, as retention makes it.
cp known.db hour.db
cpi epoch label --db hour.db full '' >/dev/null && cpi epoch label --db hour.db half '' >/dev/null ||
	bail 'labels cannot be removed'
cp hour.db begin.db
sqlite3 begin.db 'DELETE FROM epoch WHERE id > 1; DELETE FROM flush WHERE epoch > 1;
	DELETE FROM profile WHERE epoch > 1; DELETE FROM tally WHERE epoch > 1;
	DELETE FROM loss WHERE epoch > 1; DELETE FROM comm WHERE epoch > 1' || bail 'begin.db'
cpi epoch roll --db hour.db >/dev/null || bail 'roll failed'

# A run of an hour: its first and last minute, and 70 epochs with a label between them.
cp known.db label.db
sqlite3 label.db "$(sql_more_epochs "CASE i WHEN 71 THEN '' ELSE 'load' END")
	; UPDATE epoch SET label = 'load', to_ns = from_ns + 10000000000 WHERE id = 2;
	UPDATE epoch SET label = '' WHERE id = 1" || bail 'label.db'
cpi epoch roll --db label.db >/dev/null || bail 'roll failed'
# An epoch with a profile that nobody can read, between two others.
cp known.db damaged.db
sqlite3 damaged.db "UPDATE profile SET counts = x'ffffffffff' WHERE epoch = 2" || bail 'damaged.db'

# sums FILE: what a database holds: flushes, received, stored, losses, counts, commands.
sums()
{
	sqlite3 "$1" "SELECT (SELECT sum(merged + 1) FROM flush), (SELECT sum(received) FROM tally),
		(SELECT sum(stored) FROM tally), (SELECT sum(n) FROM loss WHERE kind = 0),
		(SELECT sum(n) FROM comm), (SELECT sum(total) FROM profile WHERE kind = 0)" | tr '|' '\t'
}

valid='(host, at, nr) IN (SELECT host, at, nr FROM epoch) AND (host, at, nr) NOT IN (SELECT host, at, nr FROM void)'
# store_sums: the same of the store's complete shipments, one query for each.
store_sums()
{
	for store_sum in 'sum(merged + 1) FROM flush' 'sum(received) FROM tally' \
		'sum(stored) FROM tally' 'sum(n) FROM loss' 'sum(n) FROM comm' 'sum(n) FROM profile'; do
		store_more=
		[ "$store_sum" != 'sum(n) FROM profile' ] || store_more='AND counter = 0'
		[ "$store_sum" != 'sum(n) FROM loss' ] || store_more='AND kind = 0'
		store_sql "SELECT $store_sum WHERE $valid $store_more"
	done | paste -s
}

# one_engine: 36 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi
	ship="cpi-ship --store $url --budget 100 --rate 0 --once"
	like "$($ship --db known.db 2>&1)" "cpi fleet init" "$1: without tables cpi-ship says what to do"
	bad 'status 1: .*cpi fleet init' "$1: without tables a report says what to do" cpi prof --epoch all --db "$url"
	is "$(cpi fleet init --db "$url")" 'database cpi: version 10, made' "$1: cpi fleet init creates the tables"
	is "$(CPI_DB=$url cpi fleet init)" 'database cpi: version 10, as before' "$1: a second cpi fleet init changes nothing"
	store_db=cpi
	$ship --db known.db 2>ship.log
	ok $? "$1: a database is shipped"
	is "$(store_sums)" "$(sums known.db)" "$1: the store has every count of the database"
	is "$(store_sql 'SELECT countIf(received = stored + lost), count() FROM epoch')" '3	3' \
		"$1: received = stored + lost in each epoch"
	is "$(store_sql "SELECT countIf(r != s + l), count() FROM (SELECT kind, stream, sum(received) AS r,
		sum(stored) AS s FROM tally GROUP BY kind, stream) AS a ANY LEFT JOIN (SELECT kind, stream,
		sum(n) AS l FROM loss GROUP BY kind, stream) AS b USING kind, stream")" \
		"0	$(sqlite3 known.db 'SELECT count(*) FROM (SELECT DISTINCT kind, stream FROM tally)')" \
		"$1: received = stored + losses of each stream"
	is "$(store_sql 'SELECT sum(n) FROM profile WHERE image = 0')" \
		"$(sqlite3 known.db 'SELECT total(total) FROM profile WHERE image = 0' | sed 's/\..*//')" \
		"$1: unknown images have no counts"
	is "$(store_sql "SELECT name, label FROM epoch ORDER BY at" | paste -s)" \
		"web1	full	web1	half	web1	" "$1: the store has hosts and labels"
	is "$(store_sql 'SELECT count() FROM image WHERE id NOT IN (SELECT image FROM profile)')" 0 \
		"$1: every image in the store has counts"
	is "$(store_sql 'SELECT name, reason FROM gap')" "web1	$(sqlite3 known.db 'SELECT reason FROM gap')" \
		"$1: the store has the gaps"
	is "$(store_sql 'SELECT count() FROM symbol')" "$(sqlite3 known.db 'SELECT count(*) FROM symbol')" \
		"$1: the store has the captured names"
	$ship --db known.db 2>>ship.log
	is "$? $(store_sums)" "0 $(sums known.db)" "$1: shipping again adds nothing"
	is "$(store_sql 'SELECT count() FROM epoch')" 3 "$1: shipping again sends no epoch"

	# Code made at run time: processes of one name are one image in all of the fleet.
	cp known.db jit.db
	sqlite3 jit.db "INSERT INTO image VALUES (900, 6, '[jit:java]', x'', x'', 0, 0, 0, 0);
		INSERT INTO symbol VALUES (900, 16, 8, 'java_16')" || bail 'jit.db'
	$ship --db jit.db 2>>ship.log
	java=$(store_sql "SELECT DISTINCT image FROM symbol WHERE name = 'java_16'")
	store_sql "INSERT INTO symbol SELECT $java, 16 * (number + 3), 8, 'other' FROM numbers(4300000)" >insert.out
	sqlite3 jit.db "INSERT INTO symbol VALUES (900, 32, 8, 'java_32'), (900, 48, 8, 'other'), (900, 1 << 60, 8, 'last')"
	$ship --db jit.db 2>ship.log
	is "$? $(store_sql "SELECT start, count() FROM symbol WHERE image = $java AND start IN (16, 32, 48, 64,
		1152921504606846976) GROUP BY start ORDER BY start" | paste -s -d ' ')" \
		'0 16	1 32	1 48	1 64	1 1152921504606846976	1' "$1: of four million names of a fleet's Java it sends what is new"
	sed 's/^/# /' insert.out ship.log

	# A store of the first version, with its rows.
	store_sql 'TRUNCATE TABLE version'
	store_sql 'INSERT INTO version (version) VALUES (1)'
	is "$(cpi fleet init --db "$url"), $(store_sums)" "database cpi: version 10, brought up to date, $(sums known.db)" \
		"$1: cpi fleet init upgrades an older store and keeps its rows"

	# Two at once, of a database that the store does not know.
	rm -f twin.db*
	MKDB_HOST=twin "$builddir/t/mkdb" twin.db "$builddir/t/target"
	$ship --db twin.db 2>>ship.log &
	twin=$!
	$ship --db twin.db 2>>ship.log
	first=$?
	wait $twin
	is "$first $?" '0 0' "$1: two shippers of one machine both succeed" || note "$(cat ship.log)"
	is "$(store_sql "SELECT sum(received) FROM epoch WHERE name = 'twin' AND $valid")" \
		"$(sqlite3 twin.db 'SELECT sum(received) FROM flush')" "$1: epochs that two shippers sent count once"
	is "$(store_sql "SELECT count() FROM (SELECT number FROM host GROUP BY number HAVING uniqExact(name) > 1)")" 0 \
		"$1: each host has a number of its own"

	# A first part, then the hour that contains it.
	store_sql 'TRUNCATE TABLE epoch'
	$ship --db begin.db 2>>ship.log
	is "$(store_sums)" "$(sums begin.db)" "$1: rows of an attempt without an epoch do not count"
	$ship --db hour.db 2>>ship.log
	is "$? $(store_sums)" "0 $(sums hour.db)" "$1: an hour replaces the minutes that were shipped"
	is "$(store_sql 'SELECT count() FROM epoch WHERE (host, at, nr) IN (SELECT host, at, nr FROM void)')" 1 "$1: the replaced minutes are void"
	$ship --db begin.db 2>>ship.log
	is "$(store_sums)" "$(sums hour.db)" "$1: older copies of a database add nothing"

	# Removed before it was shipped.
	rm -f gone.db*
	cp known.db gone.db
	store_sql 'TRUNCATE TABLE epoch'
	$ship --db begin.db 2>>ship.log
	sqlite3 gone.db 'UPDATE flush SET seq = seq + 4 WHERE epoch = 2;
		DELETE FROM epoch WHERE id > 2; DELETE FROM flush WHERE epoch > 2'
	$ship --db gone.db 2>ship.log
	like "$(cat ship.log)" 'flushes 2 to 5 were removed' "$1: cpi-ship names the flushes that were removed before it could send them"
	is "$(store_sql 'SELECT first_flush, last_flush FROM dropped')" '2	5' "$1: the store has it"

	is "$(cpi fleet hosts --db "$url" --format csv | cut -d, -f1-6)" "host,cpus,epochs,samples,lost,flushes_dropped
web1,2,2,2116,9,4" "$1: cpi fleet hosts lists the hosts and what was dropped"
	is "$(cpi fleet hosts --db "$url" --host 'x*' --format csv | wc -l)" 1 "$1: cpi fleet hosts --host selects hosts"

	# An hour around epochs with a label, more than go into one batch.
	store_sql 'TRUNCATE TABLE epoch'
	$ship --db label.db 2>ship.log
	is "$? $(store_sums)" "0 $(sums label.db)" "$1: an hour around epochs with labels is shipped with them"
	is "$(store_sql "SELECT uniqExact(id), count() FROM epoch WHERE $valid")" \
		"$(sqlite3 label.db 'SELECT count(*), count(*) FROM epoch' | tr '|' '\t')" "$1: each of these epochs is there once"
	like "no $(grep removed ship.log)" '^no $' "$1: nothing is reported as missing"

	# A profile that is damaged.
	store_sql 'TRUNCATE TABLE epoch'
	store_sql 'TRUNCATE TABLE dropped'
	$ship --db damaged.db 2>ship.log
	is "$? $(store_sql "SELECT id FROM epoch WHERE $valid ORDER BY id" | paste -s)" "0 1	3" \
		"$1: the epochs around a damaged one are shipped"
	like "$(paste -s ship.log)" 'epoch 2 is damaged and not shipped.*flushes 2 to 2 were damaged' "$1: cpi-ship names the damaged epoch"
	is "$(store_sql 'SELECT first_flush, last_flush FROM dropped')" '2	2' "$1: the store has it"

	# A server that is killed in between.
	store_kill
	$ship --db known.db >out 2>&1
	is "$?" 1 "$1: a stopped store is an error"
	store_run
	store_db=cpi
	$ship --db known.db 2>>ship.log
	is "$?" 0 "$1: shipping continues when the store runs again"
}

each_store one_engine
