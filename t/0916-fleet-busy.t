#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# While a shard of a store's cluster refuses inserts, cpi fleet roll adds nothing up twice.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cluster.sh"

plan 6

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
"$builddir/t/bench/fleet_hosts" known.db many.db 1 4 3 3000 >/dev/null || bail 'fleet_hosts failed'
cluster_start
url=$(cluster_url cpi 11)
ship='cpi-ship --budget 100 --rate 0 --once'
store_db=cpi
cpi fleet init --on-cluster fleet --db "$url" >init.out 2>&1 || bail "no store: $(cat init.out)"
$ship --store "$url" --db many.db 2>ship.log || bail "not shipped: $(cat ship.log)"

# Server 22 does not copy, and a first insert into its shard never gets its second replica: the
# shard refuses others meanwhile.
server_sql 22 'SYSTEM STOP FETCHES cpi.day_profile_local'
curl -sS --data-binary 'INSERT INTO day_profile_local (day, lot, n) VALUES (1, 1, 1)' \
	"http://127.0.0.1:$(cluster_port 21 1)/?database=cpi&insert_quorum=2&insert_quorum_timeout=100" >block.out 2>&1
is "$(sed -n '1s/,.*//p' block.out)" 'Code: 319' 'an insert waits for its second replica'
cpi fleet roll --db "$url" >roll.out 2>roll.err &
roll=$!
tap_pids="$tap_pids $roll"
# The other shard has some of the sums. Then the server that adds up divides rows among the shards
# in another way, as after a shard was added, and the replica copies again.
has_sums()
{
	[ "$(server_sql 11 'SELECT count() FROM day_profile_local')" -gt 0 ]
}
await has_sums || bail "nothing is added up: $(cat roll.err)"
cluster_shards='2 1'
cluster_config 11
server_sql 11 'SYSTEM RELOAD CONFIG'
first_shard()
{
	[ "$(server_sql 11 "SELECT min(port) = $(cluster_port 21 2) OR max(port) = $(cluster_port 21 2) FROM system.clusters
		WHERE cluster = 'fleet' AND shard_num = 1")" = 1 ]
}
await first_shard || bail 'server 11 has the old configuration'
server_sql 22 'SYSTEM START FETCHES cpi.day_profile_local'
wait $roll
is "$?" 0 'cpi fleet roll ends well' || note "$(cat roll.err)"
like "$(cat roll.out)" '^1 days and 3 hours added up' 'the day is added up'
lots='(day, lot) GLOBAL IN (SELECT day, lot FROM day)'
for table in profile comm; do
	is "$(server_sql 11 "SELECT sum(n) FROM day_$table WHERE $lots")" "$(server_sql 11 "SELECT sum(n) FROM $table")" \
		"sums of $table have each row once"
done
is "$(cpi fleet top --db "$url" --epoch 2026-01-01.. --format csv)" \
	"$(cpi fleet top --db "$url" --epoch 2026-01-01.. --exact --format csv)" 'reports have the same numbers'
