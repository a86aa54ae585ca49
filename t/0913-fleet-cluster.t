#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A store on a cluster of two shards and two replicas: servers are killed, and nothing is
# lost, nothing is there twice, and all answers are those of one server.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cluster.sh"
need_record

plan 58

cp "$builddir/t/target" target || bail 'no target'
cpi record -o real.db --label real -- ./target 1000000000 >record.out 2>&1 || bail 'cpi record failed'
"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
"$builddir/t/bench/fleet_hosts" real.db many.db 1 6 40 60 >/dev/null || bail 'fleet_hosts failed'
"$builddir/t/bench/fleet_hosts" real.db more.db 7 3 20 60 >/dev/null || bail 'fleet_hosts failed'

cluster_start
url=$(cluster_url cpi 11 21)
single=$(cluster_url single 11)
ship='cpi-ship --budget 100 --rate 0 --once'
store_db=cpi

# ---- tables ----

bad 'status 1: .*knows no cluster .other.: .*remote_servers' 'a cluster that the server does not know is refused' \
	cpi fleet init --on-cluster other --db "$url"
bad 'status 1: .*is no name' 'a cluster with a quote in its name is refused' \
	cpi fleet init --on-cluster "a'b" --db "$url"
is "$(cpi fleet init --on-cluster fleet --db "$url" 2>&1)" 'database cpi: version 10, made
cluster fleet: 4 servers, 2 replicas of each shard' 'cpi fleet init --on-cluster makes the tables'
is "$(cpi fleet init --db "$(cluster_url cpi 22)" --keep 90d 2>&1)" 'database cpi: version 10, as before
cluster fleet: 4 servers, 2 replicas of each shard
kept: 90 days' 'without the option it finds the cluster, on another server'
cpi fleet init --db "$url" --keep none >/dev/null 2>&1 || bail 'no limit'
for server in $cluster_servers; do
	is "$(server_sql "$server" "SELECT countIf(engine LIKE 'Replicated%'), countIf(engine = 'Distributed'),
		countIf(engine NOT LIKE 'Replicated%' AND engine != 'Distributed') FROM system.tables
		WHERE database = 'cpi'")" '41	22	0' "server $server has all tables, all of them replicated"
done
is "$(cpi fleet init --db "$single" 2>&1)" 'database single: version 10, made' 'a server of the cluster can have a store alone'
bad 'status 1: .*are on one server already' 'a store on one server cannot become one on a cluster' \
	cpi fleet init --on-cluster fleet --db "$single"

# A store of an older version.
server_sql 21 'TRUNCATE TABLE version'
server_sql 21 'INSERT INTO version (version) VALUES (3)'
migrated()
{
	[ "$(server_sql 11 'SELECT max(version) FROM version')" = 3 ]
}
await migrated || bail 'the version is not 3'
is "$(cpi fleet init --db "$url" 2>&1 | head -n 1)" 'database cpi: version 10, brought up to date' \
	'tables of an older version are brought up to date'

# ---- one machine ----

$ship --store "$url" --db real.db 2>ship.log
is "$?" 0 'a real profile is shipped' || note "$(cat ship.log)"
for server in $cluster_servers; do
	url=$(cluster_url cpi "$server")
	store_agrees "server $server" '--db real.db' prof --epoch all --format json
done
url=$(cluster_url cpi 11 21)
for command in 'list target_hot' 'calc target_hot' hot stats 'prof --by comm'; do
	# shellcheck disable=SC2086 # words
	store_agrees 'of one machine' '--db real.db' $command --epoch all --format json
done

# ---- the engine takes an insert once ----

block='INSERT INTO profile (host, at, nr, image, stream, context, counter, offset, n) VALUES
	(999, 86400, 1, 1, 1, 0, 0, 4096, 7), (999, 86400, 1, 2, 1, 0, 0, 4096, 8), (999, 86400, 1, 3, 1, 0, 0, 70000, 9)'
for server in 11 11 22; do
	curl -sS --data-binary "$block" "http://127.0.0.1:$(cluster_port $server 1)/?database=cpi&insert_quorum=2&insert_distributed_sync=1"
done
is "$(server_sql 12 'SELECT count(), sum(n) FROM profile WHERE host = 999')" '3	24' \
	'an insert that is repeated, also by another server, is stored once'

# ---- a server is killed while epochs come ----

ship_all many.db &
shipping=$!
await nr_epochs 16 || bail 'no epoch was shipped'
server_kill 12
$ship --store "$url" --db more.db 2>killed.log
is "$?" 1 'while a server is down, epochs stay on the machine'
like "$(cat killed.log)" "a server of cluster 'fleet' is down: inserts wait" 'cpi-ship says why'
store_agrees 'while a server is down' '--db real.db' prof --host "$(hostname)" --epoch all --format json
url=$(cluster_url cpi 12 22)
store_agrees 'the first server of the URL is down' '--db real.db' prof --host "$(hostname)" --epoch all --format json
url=$(cluster_url cpi 11 21)
server_run 12
server_await 12
wait $shipping
is "$? $(store_sums 12 '^h')" "0 $(sums many.db)" 'after that the store has the epochs of all machines once' ||
	note "$(tail -n 5 ship.log)"
note "$(grep -c refused ship.log) refused inserts"

# The server that is asked is killed, and all servers, one after another.
ship_all more.db &
shipping=$!
for server in 11 21; do
	server_kill $server
	server_run $server
	server_await $server
done
wait $shipping
ship_all more.db
is "$? $(store_sums 21 '^h0000[789]')" "0 $(sums more.db)" 'the same with the servers that cpi-ship and reports ask'
is "$(server_sql 22 "SELECT count() FROM (SELECT name, boot_id, run_from_ns, first_flush FROM epoch WHERE $valid
	GROUP BY name, boot_id, run_from_ns, first_flush HAVING count() > 1)")" 0 'no epoch is in the store twice'
is "$(server_sql 22 'SELECT countIf(received != stored + lost), count() > 0 FROM epoch')" '0	1' \
	'received = stored + lost in each epoch'
is "$(server_sql 22 'SELECT count() FROM dropped')" 0 'nothing is reported as missing'

# ---- replicas have the same rows, and all answers are those of one server ----

for table in profile_local tally_local flush_local epoch origin; do
	for server in $cluster_servers; do
		server_sql $server "SELECT count(), sum(cityHash64(host, toUInt32(at), nr)) FROM $table"
	done >rows
	is "$(sed -n 1p rows) $(sed -n 3p rows)" "$(sed -n 2p rows) $(sed -n 4p rows)" "replicas have the same rows of table $table"
done
is "$(sort -u rows | wc -l)" 1 'all servers have the rows of a small table'

for db in real.db many.db more.db; do
	$ship --store "$single" --db $db 2>>ship.log || bail 'the single store has nothing'
done
all='--epoch 2026-01-02..2026-01-08'
for command in 'fleet hosts' "fleet top $all --exact" "fleet top $all --by host" "fleet top $all --by image" \
	"fleet outliers $all" "prof $all" "prof $all --by comm --host h0000*" "list target_hot $all"; do
	# shellcheck disable=SC2086 # words
	same 'as one server' $command --format json
done
is "$(cpi fleet roll --db "$url" 2>&1)" "$(cpi fleet roll --db "$single" 2>&1)" 'cpi fleet roll adds up the same'
for command in "fleet top $all" "fleet top $all --by image" "prof $all"; do
	# shellcheck disable=SC2086 # words
	same 'after that' $command --format json
done

# Old days are removed from all servers.
cpi fleet init --db "$url" --keep 30d >/dev/null 2>&1 || bail 'no limit'
bad 'status 1: .*name a server of each' 'a URL without a server of each shard cannot change the rows of all' \
	cpi fleet roll --db "$(cluster_url cpi 11 12)"
cpi fleet roll --db "$url" >roll.out 2>&1
is "$?" 0 'with one it does' || note "$(cat roll.out)"
for server in $cluster_servers; do
	server_sql $server "SELECT 'rows' FROM epoch WHERE name LIKE 'h0%' LIMIT 1"
	server_sql $server "SELECT 'rows' FROM profile_local WHERE at < toDateTime('2026-03-01 00:00:00') LIMIT 1"
done >rows
is "$(cat rows)" '' 'no server has their rows'

# ---- a server does not come back ----

server_sql 22 'DROP DATABASE cpi' # which removes its replicas from the keeper
server_kill 22
lacking='has 4 servers now, 3 with tables: .*remove those that do not come back from .*remote_servers'
for servers in '11 21' 21 '11 12 21 22'; do
	# shellcheck disable=SC2086 # words
	cpi fleet init --db "$(cluster_url cpi $servers)" --keep 60d >gone.out 2>gone.err
	like "$? $(cat gone.out gone.err | paste -s)" "^0 .*kept: 60 days.*$lacking" \
		"without a server cpi fleet init works, and warns: servers $servers"
done
server_run 22
store_db=default
server_await 22
store_db=cpi
like "$(cpi fleet init --db "$(cluster_url cpi 11 12 21 22)" 2>&1)" '1 server added' \
	'if it comes back empty, it gets the tables'
for table in profile_local epoch; do
	is "$(server_sql 22 "SELECT count(), sum(cityHash64(host, toUInt32(at), nr)) FROM $table")" \
		"$(server_sql 21 "SELECT count(), sum(cityHash64(host, toUInt32(at), nr)) FROM $table")" \
		"and the rows of table $table"
done
