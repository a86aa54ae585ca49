#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Limits of a store: hosts that lie, days that it keeps; and stores that are replaced.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan $((4 + $(store_tests 29)))

bad "status 1: .*--quota: '0' is no number" 'a quota of 0 rows is refused' \
	cpi fleet init --quota 0 --db clickhouse://127.0.0.1:1/cpi
bad "status 1: .*--quota: '5x' is no number" 'a quota that is no number is refused' \
	cpi fleet init --quota 5x --db clickhouse://127.0.0.1:1/cpi
bad "status 1: .*--keep: '36h' is no number of days" 'keeping half a day is refused' \
	cpi fleet init --keep 36h --db clickhouse://127.0.0.1:1/cpi
bad "status 1: .*--keep: '0d' is no number of days" 'keeping nothing is refused' \
	cpi fleet init --keep 0d --db clickhouse://127.0.0.1:1/cpi

for host in honest liar greedy; do
	MKDB_HOST=$host "$builddir/t/mkdb" $host.db "$builddir/t/target" || bail 'mkdb failed'
done
# Epochs of this hour, and of the day that a store of 30 days keeps at least.
now=$(date +%s)
cp honest.db fresh.db
sqlite3 fresh.db "CREATE TEMP TABLE by AS SELECT ($now - 600) * 1000000000 - max(to_ns) AS ns FROM epoch;
	UPDATE epoch SET from_ns = from_ns + (SELECT ns FROM by), to_ns = to_ns + (SELECT ns FROM by);
	UPDATE run SET from_ns = from_ns + (SELECT ns FROM by), to_ns = to_ns + (SELECT ns FROM by);
	UPDATE flush SET from_ns = from_ns + (SELECT ns FROM by), to_ns = to_ns + (SELECT ns FROM by);
	UPDATE platform SET host = 'fresh'" || bail 'no fresh.db'

# A first run of January, and a second one of now, which is still open.
MKDB_HOST=aging "$builddir/t/mkdb" aging.db "$builddir/t/target" || bail 'mkdb failed'
sqlite3 aging.db "CREATE TEMP TABLE last AS SELECT id, run, ($now - 600) * 1000000000 - to_ns AS ns FROM epoch
		WHERE id = (SELECT max(id) FROM epoch);
	UPDATE epoch SET open = 1, from_ns = from_ns + (SELECT ns FROM last), to_ns = to_ns + (SELECT ns FROM last)
		WHERE id = (SELECT id FROM last);
	UPDATE run SET from_ns = from_ns + (SELECT ns FROM last), to_ns = to_ns + (SELECT ns FROM last)
		WHERE id = (SELECT run FROM last);
	UPDATE flush SET from_ns = from_ns + (SELECT ns FROM last), to_ns = to_ns + (SELECT ns FROM last)
		WHERE epoch = (SELECT id FROM last)" || bail 'no aging.db'

# sums DB: flushes, received, stored, samples
sums()
{
	sqlite3 "$1" "SELECT (SELECT sum(merged + 1) FROM flush), (SELECT sum(received) FROM tally),
		(SELECT sum(stored) FROM tally), (SELECT sum(total) FROM profile WHERE kind = 0)" | tr '|' '\t'
}

valid='(host, at, nr) NOT IN (SELECT host, at, nr FROM void)'
# store_sums HOST: the same of its complete shipments
store_sums()
{
	for store_sum in 'sum(merged + 1) FROM flush WHERE 1' 'sum(received) FROM tally WHERE 1' \
		'sum(stored) FROM tally WHERE 1' 'sum(n) FROM profile WHERE counter = 0'; do
		store_sql "SELECT $store_sum AND (host, at, nr) IN (SELECT host, at, nr FROM epoch
			WHERE name = '$1' AND $valid)"
	done | paste -s
}

# hosts: what cpi fleet hosts says of each host
hosts()
{
	cpi fleet hosts --db "$url" --format csv | awk -F, -v OFS=, '{ print $1, $3, $4, $(NF - 2), $(NF - 1) }'
}

has_all()
{
	[ "$(store_sums honest)" = "$(sums live.db)" ]
}

has_epochs()
{
	[ "$(store_sql 'SELECT count() FROM epoch')" = "$1" ]
}

# has_of HOST N: whether the store has so many epochs of a host
has_of()
{
	[ "$(store_sql "SELECT count() FROM epoch WHERE name = '$1'")" = "$2" ]
}

# hold DB: keeps it open, so that its -wal and -shm files stay.
hold()
{
	rm -f hold held
	mkfifo hold
	sqlite3 "$1" <hold >held &
	tap_pids="$tap_pids $!"
	exec 8>hold
	echo 'SELECT count(*) FROM epoch;' >&8
	await test -s held
}

# one_engine NAME: 29 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi
	ship="cpi-ship --store $url --budget 100 --rate 0 --once"
	is "$(cpi fleet init --db "$url" --quota 100000 --keep 30000d)" 'database cpi: version 10, made
quota: 100000 rows of profiles for each host and day
kept: 30000 days' "$1: cpi fleet init sets limits"
	is "$(cpi fleet init --db "$url" --quota none --keep none)" 'database cpi: version 10, as before' \
		"$1: cpi fleet init removes limits"
	store_db=cpi
	for host in honest liar greedy; do
		$ship --db $host.db 2>>ship.log || bail "nothing was shipped: $(cat ship.log)"
	done
	rows=$(store_sql "SELECT sum(nr_rows) FROM epoch WHERE name = 'honest'")
	samples=$(store_sql "SELECT sum(received) FROM epoch WHERE name = 'honest'")
	like "$(cpi fleet roll --db "$url" | paste -s)" '^[0-9]* days and [0-9]* hours added up, 0 old sums removed$' \
		"$1: cpi fleet roll rejects nothing of honest hosts"
	is "$(hosts)" "host,epochs,samples,rejected_rows,rejected_epochs
greedy,3,$samples,0,0
honest,3,$samples,0,0
liar,3,$samples,0,0" "$1: cpi fleet hosts shows that"

	# More rows than the epoch says, in one second and thus hour.
	first=$(store_sql "SELECT min(toUInt32(at)) FROM epoch WHERE name = 'liar'")
	of_first="host IN (SELECT host FROM epoch WHERE name = 'liar') AND toUInt32(at) = $first"
	store_sql "INSERT INTO profile SELECT host, at, nr, image, stream, context, counter, offset + 1, n * 1000
		FROM profile WHERE $of_first"
	# A shipment of a host that sends nothing else, whose samples do not add up.
	store_sql "INSERT INTO epoch (host, at, nr, id, from_ns, to_ns, name, nr_cpus, received, stored, lost, nr_rows)
		SELECT 77, at, 1, 1, from_ns, to_ns, 'cheat', 2, 1000, 10, 10, 5 FROM epoch WHERE $of_first"
	# What the sums had before is not what they have to have.
	store_sql 'TRUNCATE TABLE hour'
	store_sql 'TRUNCATE TABLE day'
	lied=$(store_sql "SELECT count() FROM profile WHERE $of_first")
	is "$(cpi fleet roll --db "$url" | sed -n 2p)" \
		"2 epochs with $((lied + 5)) rows rejected: 'cpi fleet hosts' says of which hosts" \
		"$1: cpi fleet roll rejects false rows and false sums"
	is "$(store_sql 'SELECT reason, nr_rows FROM rejected ORDER BY reason')" "ledger	5
rows	$lied" "$1: the store has the reasons"
	liar=$(store_sql "SELECT sum(received) FROM epoch WHERE name = 'liar' AND $valid")
	is "$(hosts)" "host,epochs,samples,rejected_rows,rejected_epochs
cheat,0,0,5,1
greedy,3,$samples,0,0
honest,3,$samples,0,0
liar,2,$liar,$lied,1" "$1: cpi fleet hosts lists what was rejected, also of a host of which nothing is left"
	is "$(store_sums honest)" "$(sums honest.db)" "$1: honest hosts keep all their rows"
	$ship --db liar.db 2>>ship.log
	is "$? $(store_sql "SELECT count() FROM epoch WHERE name = 'liar'")" '0 3' "$1: rejected epochs are not sent again"
	is "$(cpi fleet roll --db "$url" | wc -l)" 1 "$1: nothing is rejected twice"

	# A quota that honest hosts just keep.
	cpi fleet init --db "$url" --quota "$rows" >/dev/null
	store_sql "INSERT INTO epoch (host, at, nr, id, from_ns, to_ns, name, nr_cpus, received, stored, lost, nr_rows)
		SELECT host, max(at), 900, 9, max(from_ns), max(to_ns), name, 2, 20, 10, 10, 3 FROM epoch
		WHERE name = 'greedy' GROUP BY host, name"
	cpi fleet roll --db "$url" >out 2>err
	is "$(sed -n 2p out)" "1 epochs with 3 rows rejected: 'cpi fleet hosts' says of which hosts" \
		"$1: cpi fleet roll rejects what is beyond the quota"
	like "$(cat err)" "host greedy has more rows of a day than the quota of $rows" "$1: it names the host"
	is "$(store_sql "SELECT reason, nr_rows, nr FROM rejected WHERE nr = 900")" 'quota	3	900' \
		"$1: of a host the epochs that came last are beyond its quota"
	is "$(store_sums greedy), $(store_sums honest)" "$(sums greedy.db), $(sums honest.db)" \
		"$1: epochs within the quota count"
	# A claim beyond all numbers.
	store_sql "INSERT INTO epoch (host, at, nr, id, from_ns, to_ns, name, nr_cpus, received, stored, lost, nr_rows)
		SELECT host, max(at), 901, 9, max(from_ns), max(to_ns), name, 2, 20, 10, 10, 18446744073709551615
		FROM epoch WHERE name = 'greedy' GROUP BY host, name"
	cpi fleet roll --db "$url" >out 2>err
	is "$(store_sql "SELECT nr FROM rejected WHERE nr > 900"), $(store_sums greedy)" "901, $(sums greedy.db)" \
		"$1: a claim of too many rows does not wrap around"
	# Rows of the future, which no sum is due for.
	store_sql "INSERT INTO epoch (host, at, nr, id, from_ns, to_ns, name, nr_cpus, received, stored, lost, nr_rows)
		VALUES (77, toDateTime(4000000000), 1, 1, 4000000000000000000, 4000000001000000000, 'cheat', 2, 20, 10, 10, 1)"
	store_sql "INSERT INTO profile SELECT 77, toDateTime(4000000000), 1, image, stream, context, counter, offset, n
		FROM profile WHERE $of_first"
	cpi fleet roll --db "$url" >out 2>err
	is "$(store_sql "SELECT reason FROM rejected WHERE toUInt32(at) = 4000000000")" 'rows' \
		"$1: false rows of the future are rejected"
	store_sql 'TRUNCATE TABLE rejected'
	cpi fleet init --db "$url" --quota none >/dev/null

	# Days that the store does not keep.
	cpi fleet init --db "$url" --keep 30d >/dev/null
	$ship --db fresh.db 2>>ship.log
	is "$(cpi fleet roll --db "$url" | tail -n 1)" '1 days removed, which the store no longer keeps' \
		"$1: cpi fleet roll removes old days"
	is "$(store_sql "SELECT count() FROM epoch WHERE toUInt32(at) < 2000000000")" 3 "$1: their epochs are gone"
	is "$(store_sql "SELECT count() FROM profile WHERE toUInt32(at) < $now - 3000000"), \
$(store_sql "SELECT count() FROM attempt WHERE toUInt32(at) < $now - 3000000")" '0, 0' "$1: and their rows"
	is "$(store_sums fresh)" "$(sums fresh.db)" "$1: newer days stay whole"
	$ship --db honest.db 2>>ship.log
	is "$? $(store_sql "SELECT count() FROM epoch WHERE name = 'honest'")" '0 0' \
		"$1: epochs that the store no longer keeps are not sent"
	cpi fleet init --db "$url" --keep none >/dev/null
	$ship --db honest.db 2>>ship.log
	is "$? $(store_sums honest)" "0 $(sums honest.db)" "$1: a store that keeps all gets them"

	# Old days that go while cpi-ship goes on.
	cp aging.db old.db
	cpi epoch list --db old.db >/dev/null || bail 'no old.db'
	cpi-ship --store "$url" --every 1s --budget 100 --rate 0 --db old.db 2>old.log &
	live=$!
	tap_pids="$tap_pids $live"
	within 60 has_of aging 2 || bail "not shipped: $(cat old.log)"
	cpi fleet init --db "$url" --keep 30d >/dev/null
	cpi fleet roll --db "$url" >out
	is "$(tail -n 1 out) $(store_sql "SELECT count() FROM epoch WHERE name = 'aging'")" \
		'1 days removed, which the store no longer keeps 0' "$1: old days go while cpi-ship runs"
	# After this its -wal and -shm files are gone, and cpi-ship has no right to make them.
	sqlite3 old.db 'UPDATE epoch SET open = 0' || bail 'no old.db'
	within 60 has_of aging 1
	is "$(store_sql "SELECT count() FROM epoch WHERE name = 'aging'") $(grep 'the store had' old.log)" '1 ' \
		"$1: days that the store no longer keeps are not taken for lost ones"
	kill $live
	wait $live
	cpi fleet init --db "$url" --keep none >/dev/null

	# A store that was restored from a backup, while cpi-ship goes on.
	store_sql 'TRUNCATE TABLE epoch'
	cp honest.db live.db
	sqlite3 live.db 'UPDATE epoch SET open = 1 WHERE id = (SELECT max(id) FROM epoch)' || bail 'no live.db'
	hold live.db
	cpi-ship --store "$url" --every 1s --budget 100 --rate 0 --db live.db 2>live.log &
	live=$!
	tap_pids="$tap_pids $live"
	within 60 has_epochs "$(sqlite3 live.db 'SELECT count(*) FROM epoch WHERE NOT open')" || bail "not shipped: $(cat live.log)"
	store_sql 'TRUNCATE TABLE epoch'
	store_sql 'TRUNCATE TABLE image'
	sqlite3 live.db 'UPDATE epoch SET open = 0' || bail 'no live.db'
	within 60 has_all
	is "$(store_sums honest)" "$(sums live.db)" "$1: after a backup was restored, what it lacks is sent again"
	like "$(cat live.log)" 'the store had flush [0-9]* of host honest' "$1: cpi-ship says so"
	is "$(store_sql 'SELECT count() FROM (SELECT DISTINCT image FROM profile) AS p WHERE image NOT IN
		(SELECT id FROM image) AND image != 0')" 0 "$1: also names that the backup lacks"

	# Another store at the same address, while cpi-ship goes on.
	store_sql 'DROP DATABASE cpi'
	store_db=default
	cpi fleet init --db "$url" >/dev/null || bail 'no second store'
	store_db=cpi
	within 120 has_all
	is "$(store_sums honest) $(store_sql "SELECT count() FROM epoch WHERE $valid")" \
		"$(sums live.db) $(sqlite3 live.db 'SELECT count(*) FROM epoch')" "$1: a new store at the same address gets everything once"
	like "$(cat live.log)" 'the store is another one than before' "$1: cpi-ship says that the store was replaced"
	kill $live
	wait $live
	exec 8>&-
}

each_store one_engine
