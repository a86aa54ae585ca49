#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A shard is added to the cluster of a store while machines send: nothing is lost, nothing is
# there twice, and all answers are those of one server.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cluster.sh"

plan 35

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
"$builddir/t/bench/fleet_hosts" known.db many.db 1 6 30 60 >/dev/null || bail 'fleet_hosts failed'
"$builddir/t/bench/fleet_hosts" known.db more.db 7 3 20 60 >/dev/null || bail 'fleet_hosts failed'

cluster_later='31 32'
cluster_start
url=$(cluster_url cpi 11 21)
all_url=$(cluster_url cpi 11 12 21 22 31 32)
single=$(cluster_url single 11)
ship='cpi-ship --budget 100 --rate 0 --once'
store_db=cpi
cpi fleet init --on-cluster fleet --db "$url" >init.out 2>&1 || bail "no store: $(cat init.out)"
cpi fleet init --db "$single" >init.out 2>&1 || bail "no store: $(cat init.out)"
is "$(cpi fleet init --db "$url" 2>&1)" 'database cpi: version 10, as before
cluster fleet: 4 servers, 2 replicas of each shard' 'nothing is added to a cluster that did not grow'

# ---- the third shard comes while epochs are sent ----

ship_all many.db &
shipping=$!
tap_pids="$tap_pids $shipping"
await nr_epochs 16 || bail 'no epoch was shipped'

cluster_shards='1 2 3'
knows()
{
	[ "$(server_sql "$1" "SELECT count() FROM system.clusters WHERE cluster = 'fleet'")" = 6 ]
}
# learn SERVER: the configuration with three shards
learn()
{
	cluster_config "$1"
	server_sql "$1" 'SYSTEM RELOAD CONFIG'
	await knows "$1" || bail "server $1 does not know the new shard"
}
store_db=default
for server in $cluster_later; do
	cluster_config "$server"
	server_run "$server"
done
for server in $cluster_later; do
	server_await "$server"
done
for server in 11 12 21; do
	learn $server
done
bad "status 1: .*has 6 servers now, 4 with tables: .*name all servers" 'a URL without the new servers is refused' \
	cpi fleet init --db "$url"
bad 'status 1: .*server 4 of .*knows another cluster .fleet.' 'a server with the former configuration is noticed' \
	cpi fleet init --db "$all_url"
bad 'status 1: .*name all servers' 'the same of a URL with a new server first' \
	cpi fleet init --db "$(cluster_url cpi 31 11)"
bad 'status 1: .*server 2 of .*cannot be reached, and may have the tables' 'a new server gets no store of its own' \
	cpi fleet init --db "$(cluster_url cpi 31 | sed 's|/cpi$|,127.0.0.1:1/cpi|')"
is "$(for server in $cluster_later; do server_sql $server "SELECT name FROM system.tables WHERE database = 'cpi'"; done)" '' \
	'until then nothing is made'
learn 22

# It is killed before the tables are complete.
has_table()
{
	[ "$(server_sql "$1" "SELECT count() FROM system.tables WHERE database = 'cpi' AND name = '$2'")" = 1 ]
}
cpi fleet init --db "$all_url" >killed.out 2>&1 &
init_pid=$!
tap_pids="$tap_pids $init_pid"
await has_table 31 window_set_local || bail "no table is made: $(cat killed.out)"
kill -KILL $init_pid
wait $init_pid
is "$?" 137 'cpi fleet init is killed while it makes tables'
store_db=cpi
is "$(cpi fleet init --db "$all_url" 2>&1)" 'database cpi: version 10, as before
cluster fleet: 6 servers, 2 replicas of each shard
2 servers added' 'a second cpi fleet init makes the tables on the new servers'
cluster_servers='11 12 21 22 31 32'
for server in $cluster_servers; do
	is "$(server_sql "$server" "SELECT countIf(engine LIKE 'Replicated%'), countIf(engine = 'Distributed'),
		countIf(engine NOT LIKE 'Replicated%' AND engine != 'Distributed') FROM system.tables
		WHERE database = 'cpi'")" '41	22	0' "server $server has all tables, all of them replicated"
done
is "$(server_sql 32 'SELECT count() > 0 FROM epoch WHERE thinned = 1')" 1 'a new server has the rows of small tables'
is "$(cpi fleet init --db "$url" 2>&1 | tail -n 1)" 'cluster fleet: 6 servers, 2 replicas of each shard' \
	'it is not added twice'
wait $shipping
ship_all many.db
is "$? $(store_sums 11 '^h')" "0 $(sums many.db)" 'the store has the epochs of all machines once' ||
	note "$(tail -n 5 ship.log)"
ship_all more.db
for server in 11 32; do
	is "$(store_sums $server '^h0000[789]')" "$(sums more.db)" "the same of machines that came later, by server $server"
done
is "$(server_sql 22 "SELECT count() FROM (SELECT name, boot_id, run_from_ns, first_flush FROM epoch WHERE $valid
	GROUP BY name, boot_id, run_from_ns, first_flush HAVING count() > 1)")" 0 'no epoch is in the store twice'
is "$(server_sql 22 'SELECT countIf(received != stored + lost), count() > 0 FROM epoch')" '0	1' \
	'received = stored + lost in each epoch'
is "$(server_sql 31 'SELECT count() > 0 FROM profile_local')" 1 'the new shard has rows'
for table in profile_local epoch; do
	is "$(server_sql 31 "SELECT count(), sum(cityHash64(host, toUInt32(at), nr)) FROM $table")" \
		"$(server_sql 32 "SELECT count(), sum(cityHash64(host, toUInt32(at), nr)) FROM $table")" \
		"its replicas have the same rows of table $table"
done

# ---- all answers are those of one server ----

for db in many.db more.db; do
	$ship --store "$single" --db $db 2>>ship.log || bail 'the single store has nothing'
done
all='--epoch 2026-01-02..2026-01-08'
for url in "$(cluster_url cpi 11)" "$(cluster_url cpi 32)"; do
	for command in 'fleet hosts' "fleet top $all --exact" "fleet top $all --by host" "prof $all"; do
		# shellcheck disable=SC2086 # words
		same 'as one server' $command --format json
	done
done
url=$all_url
is "$(cpi fleet roll --db "$url" 2>&1)" "$(cpi fleet roll --db "$single" 2>&1)" 'cpi fleet roll adds up the same'
for command in "fleet top $all" "prof $all"; do
	# shellcheck disable=SC2086 # words
	same 'after that' $command --format json
done
