# SPDX-License-Identifier: GPL-2.0-or-later
# cluster.sh - a ClickHouse cluster on the loopback: . "$srcdir/t/cluster.sh" after tap.sh
#
# Skips the script if a cluster is not possible here.
#
# Shards with two replicas each, of Debian's clickhouse-server, and Debian's zookeeper: two, and
# those of $cluster_later, which a test starts later. Server 12 is the second replica of the first
# shard. Caches are small.

. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
zookeeper_jars=/usr/share/java/zookeeper.jar
for cluster_jar in zookeeper-jute slf4j-api slf4j-nop netty-all metrics-core snappy-java commons-io; do
	zookeeper_jars=$zookeeper_jars:/usr/share/java/$cluster_jar.jar
done
cluster_servers='11 12 21 22'
cluster_later=
cluster_shards='1 2'

need python3 sqlite3 curl java
cluster_missing=$(store_lacks old)
[ -z "$cluster_missing" ] || skip_all "$cluster_missing"
[ -e /usr/share/java/zookeeper.jar ] || skip_all 'zookeeper is missing'

# cluster_port SERVER KIND: its port: 1 HTTP, 2 TCP, 3 between servers
cluster_port()
{
	sed -n "s/^$1$2 //p" ports
}

# A server that was killed has parts that the keeper does not know. If more than half of a small
# table's rows are in these, a server refuses to start unless its configuration allows it.
cluster_config() # SERVER
{
	store_config "$tmp/s$1" "$(cluster_port "$1" 1)" "$(cluster_port "$1" 2)" "$(cluster_port "$1" 3)"
	cluster_text=
	for cluster_shard in $cluster_shards; do
		cluster_text="$cluster_text<shard><internal_replication>true</internal_replication>"
		for cluster_replica in 1 2; do
			cluster_text="$cluster_text<replica><host>127.0.0.1</host><port>$(
				cluster_port $cluster_shard$cluster_replica 2)</port></replica>"
		done
		cluster_text="$cluster_text</shard>"
	done
	sed -i "s|<mark_cache_size>[0-9]*<|<mark_cache_size>16777216<|
s|</yandex>|<interserver_http_host>127.0.0.1</interserver_http_host>\\
<zookeeper><node><host>127.0.0.1</host><port>$(cluster_port keeper 1)</port></node>\\
<session_timeout_ms>6000</session_timeout_ms></zookeeper>\\
<remote_servers><fleet>$cluster_text</fleet></remote_servers>\\
<distributed_ddl><path>/ddl</path></distributed_ddl>\\
<merge_tree><replicated_max_ratio_of_wrong_parts>1</replicated_max_ratio_of_wrong_parts></merge_tree>\\
<macros><shard>${1%?}</shard><replica>${1#?}</replica></macros></yandex>|" "$tmp/s$1/config.xml"
}

# server_run SERVER: starts it.
server_run()
{
	PATH="$PATH:/usr/sbin" clickhouse-server --config-file="$tmp/s$1/config.xml" >"$tmp/s$1/out" 2>&1 &
	echo $! >"$tmp/s$1/pid"
	tap_pids="$tap_pids $!"
}

# server_answers SERVER: whether it does; one that ended is started again, as its unit does.
server_answers()
{
	[ "$(server_sql "$1" 'SELECT 1')" != 1 ] || return 0
	kill -0 "$(cat "$tmp/s$1/pid")" 2>/dev/null || server_run "$1"
	return 1
}

# server_await SERVER: until it answers, also on a busy machine after a crash. If it never does,
# shows what it and the keeper said last, and whether its process still runs.
server_await()
{
	within 400 server_answers "$1" && return
	for server_said in "$tmp/s$1/out" "$tmp/s$1/errors" keeper.out; do
		note "the end of $server_said:"
		tail -n 20 "$server_said" | cut -c 1-300 | sed 's/^/# /'
	done
	ps -o pid=,stat=,etimes=,wchan= -p "$(cat "$tmp/s$1/pid")" | sed 's/^/# server: /'
	bail "server $1 does not answer"
}

# server_kill SERVER: as a crash does.
server_kill()
{
	kill -KILL "$(cat "$tmp/s$1/pid")"
	wait "$(cat "$tmp/s$1/pid")" 2>/dev/null
}

# server_sql SERVER SQL: runs it there, and prints its rows.
server_sql()
{
	store_port=$(cluster_port "$1" 1)
	store_sql "$2"
}

# cluster_url DATABASE SERVER...: the URL of a store on these servers
cluster_url()
{
	cluster_list= cluster_db=$1
	shift
	for cluster_server; do
		cluster_list=$cluster_list,127.0.0.1:$(cluster_port "$cluster_server" 1)
	done
	echo "clickhouse://${cluster_list#,}/$cluster_db"
}

keeper_answers()
{
	python3 -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
s.sendall(b"srvr")
sys.exit(not s.recv(9).startswith(b"Zookeeper"))' "$(cluster_port keeper 1)" 2>/dev/null
}

# cluster_ports N: N free ports, on one line. The kernel gives none of them to a client while a
# server is down.
cluster_ports()
{
	python3 -c '
import random, socket, sys
first = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
ports = list(range(max(first - 20000, 2000), first)) if first > 12000 else list(range(61001, 65535))
random.shuffle(ports)
found = []
while len(found) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", ports.pop()))
        found.append(s)
    except OSError:
        s.close()
print(*[s.getsockname()[1] for s in found])' "$1"
}

# cluster_start: starts the keeper and the servers.
cluster_start()
{
	# shellcheck disable=SC2086 # words
	set -- $cluster_servers $cluster_later
	# shellcheck disable=SC2046 # words
	set -- $(cluster_ports $((3 * $# + 1)))
	for cluster_server in $cluster_servers $cluster_later; do
		for cluster_kind in 1 2 3; do
			echo "$cluster_server$cluster_kind $1"
			shift
		done
	done >ports
	echo "keeper1 $1" >>ports
	java -Xmx128m -Dzookeeper.admin.enableServer=false -cp "$zookeeper_jars" \
		org.apache.zookeeper.server.ZooKeeperServerMain "$(cluster_port keeper 1)" "$tmp/keeper" \
		>keeper.out 2>&1 &
	tap_pids="$tap_pids $!"
	await keeper_answers || bail 'zookeeper does not answer'
	for cluster_server in $cluster_servers; do
		cluster_config "$cluster_server"
		server_run "$cluster_server"
	done
	for cluster_server in $cluster_servers; do
		server_await "$cluster_server"
	done
}

# ---- what is shipped, and what the store has; $url and $ship are set ----

# sums DB: flushes; samples received, stored and lost; those by command and of profiles
sums()
{
	sqlite3 "$1" "SELECT (SELECT sum(merged + 1) FROM flush), (SELECT sum(received) FROM tally),
		(SELECT sum(stored) FROM tally), (SELECT sum(n) FROM loss WHERE kind = 0),
		(SELECT sum(n) FROM comm), (SELECT sum(total) FROM profile WHERE kind = 0)" | tr '|' '\t'
}

valid='(host, at, nr) NOT IN (SELECT host, at, nr FROM void)'
# store_sums SERVER HOSTS: the same of complete shipments
store_sums()
{
	for store_sum in 'sum(merged + 1) FROM flush WHERE 1' 'sum(received) FROM tally WHERE 1' \
		'sum(stored) FROM tally WHERE 1' 'sum(n) FROM loss WHERE kind = 0' \
		'sum(n) FROM comm WHERE 1' 'sum(n) FROM profile WHERE counter = 0'; do
		server_sql "$1" "SELECT $store_sum AND (host, at, nr) GLOBAL IN (SELECT host, at, nr FROM epoch
			WHERE match(name, '$2') AND $valid)"
	done | paste -s
}

# ship_all DB: until all is said to be shipped; at most 60 times
ship_all()
{
	ship_tries=0
	while [ $ship_tries -lt 60 ]; do
		$ship --store "$url" --db "$1" 2>>ship.log && return 0
		ship_tries=$((ship_tries + 1))
	done
	return 1
}

# nr_epochs N: whether so many are in the store
nr_epochs()
{
	[ "$(server_sql 11 "SELECT count() FROM epoch WHERE name LIKE 'h0%'")" -ge "$1" ]
}

# same NAME ARGS...: a test that the stores $url and $single give the same answer
same()
{
	same_name=$1
	shift
	# Ages depend on the time of the question.
	cpi "$@" --db "$url" 2>same.err | sed 's/"lag_s": [0-9]*//' >same.out
	cpi "$@" --db "$single" 2>>same.err | sed 's/"lag_s": [0-9]*//' >same.want
	is "$(cat same.out)" "$(cat same.want)" "$same_name: cpi $*"
	cmp -s same.out same.want || note "$(cat same.err)"
}
