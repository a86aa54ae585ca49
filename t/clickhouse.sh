# SPDX-License-Identifier: GPL-2.0-or-later
# clickhouse.sh - real stores for tests: . "$srcdir/t/clickhouse.sh" after tap.sh
#
# "old" is Debian's clickhouse-server (18.16), a server. "now" is today's ClickHouse as
# the library of npm's package chdb, behind a few lines of HTTP (clickhouse_now.js);
# CHDB_MODULES names the node_modules folder that has it, since tests install nothing.
# STORES="now" or "old" chooses one of them.

# A leak detector traces its process, which cpi-ship refuses to everyone.
ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}"
CPI_SHIP_CONFIG=/dev/null
export ASAN_OPTIONS CPI_SHIP_CONFIG

# store_lacks ENGINE: prints what is missing for it; nothing if it can be started.
store_lacks()
{
	case " ${STORES:-old now} " in
	*" $1 "*) ;;
	*)
		echo "STORES does not name it"
		return
		;;
	esac
	case $1 in
	old) command -v clickhouse-server >/dev/null || [ -x /usr/sbin/clickhouse-server ] ||
		echo "clickhouse-server is missing" ;;
	now)
		if ! command -v node >/dev/null; then
			echo "node is missing"
		elif [ ! -d "${CHDB_MODULES:-/nonexistent}/chdb" ]; then
			echo "CHDB_MODULES names no folder with npm's chdb"
		fi
		;;
	esac
}

# store_tests N: how many tests N for each engine are; one that is missing is one skip.
store_tests()
{
	store_tests=0
	for store_engine in old now; do
		if [ -z "$(store_lacks $store_engine)" ]; then
			store_tests=$((store_tests + $1))
		else
			store_tests=$((store_tests + 1))
		fi
	done
	echo $store_tests
}

# free_ports N: N ports of the loopback that nobody listens to, on one line.
free_ports()
{
	python3 -c '
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[s.getsockname()[1] for s in held])' "$1"
}

store_config() # FOLDER HTTP TCP INTER
{
	mkdir -p "$1/data" "$1/tmp"
	cat >"$1/users.xml" <<END
<yandex><profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile>
<quota>default</quota></default><shipper><password>secret</password><networks><ip>::/0</ip></networks>
<profile>default</profile><quota>default</quota></shipper></users>
<quotas><default></default></quotas></yandex>
END
	cat >"$1/config.xml" <<END
<yandex><logger><level>warning</level><log>$1/log</log><errorlog>$1/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><http_port>$2</http_port><tcp_port>$3</tcp_port>
<interserver_http_port>$4</interserver_http_port><path>$1/data/</path><tmp_path>$1/tmp/</tmp_path>
<users_config>$1/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
<compression><case><min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio>
<method>zstd</method></case></compression><timezone>UTC</timezone></yandex>
END
}

store_answers()
{
	[ "$(store_sql 'SELECT 1')" = 1 ]
}

# store_run: starts the engine $store_engine in $store_folder at $store_port again.
store_run()
{
	case $store_engine in
	old) PATH="$PATH:/usr/sbin" clickhouse-server --config-file="$store_folder/config.xml" \
		>"$store_folder/out" 2>&1 & ;;
	now) NODE_PATH=$CHDB_MODULES node "$srcdir/t/clickhouse_now.js" "$store_port" "$store_folder/data" \
		>"$store_folder/out" 2>&1 & ;;
	esac
	store_pid=$!
	tap_pids="$tap_pids $store_pid"
	await store_answers || bail "the store $store_engine does not answer"
}

# store_start ENGINE FOLDER: sets store_port and store_pid.
store_start()
{
	store_engine=$1 store_folder=$2 store_db=default
	# shellcheck disable=SC2046 # three words
	set -- $(free_ports 3)
	store_port=$1
	store_config "$store_folder" "$@"
	store_run
}

# store_kill: as a crash does.
store_kill()
{
	kill -KILL "$store_pid"
	wait "$store_pid" 2>/dev/null
}

# store_sql SQL: runs it, and prints its rows, tabs between columns.
store_sql()
{
	curl -sS --data-binary "$1" "http://127.0.0.1:$store_port/?database=${store_db:-default}" 2>/dev/null
}

# store_silent: a store that takes a request and never answers it; its port is in silent.out,
# and then "asked".
store_silent()
{
	python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
c, _ = s.accept()
c.recv(1)
print("asked", flush=True)
while c.recv(4096):
    pass' >silent.out &
	tap_pids="$tap_pids $!"
	await test -s silent.out || bail 'no port'
}

# each_store FUNCTION: calls FUNCTION ENGINE with a new store of each kind.
each_store()
{
	for store_each in old now; do
		store_missing=$(store_lacks $store_each)
		if [ -n "$store_missing" ]; then
			skip 1 "$store_each: $store_missing"
		else
			store_start $store_each "$tmp/$store_each"
			"$1" $store_each
			kill "$store_pid"
		fi
	done
}

# store_agrees NAME MACHINE ARGS...: a test that cpi ARGS reports from the store at $url what
# it reports from the machines' own databases. MACHINE has their --db, and other words for
# them alone; $store_words are for the store alone, $store_status is its status if not 0.
store_agrees()
{
	agrees_name=$1 agrees_machine=$2
	shift 2
	set -f
	# shellcheck disable=SC2086 # words
	cpi "$@" $agrees_machine >machine.out 2>machine.err
	# shellcheck disable=SC2086 # words
	cpi "$@" --db "$url" ${store_words:-} >fleet.out 2>fleet.err
	agrees_status=$?
	set +f
	[ "${store_status:-0}" -ne 0 ] || [ "$(wc -l <machine.out)" -gt 1 ] ||
		echo 'a report with rows' >machine.out
	is "$agrees_status $(cat fleet.out)" "${store_status:-0} $(cat machine.out)" "$agrees_name: cpi $*"
	cmp -s machine.out fleet.out || note "$(cat machine.err fleet.err)"
}

# sql_more_epochs LABEL: SQL that adds 71 epochs of ten seconds, 101 to 171, with the samples
# of epoch 2, which they follow. LABEL is an SQL expression of their number i.
sql_more_epochs()
{
	echo "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
		SELECT i + 1 FROM n WHERE i < 71) SELECT i FROM n;
		INSERT INTO epoch SELECT 100 + i, 1, $1, from_ns + i * 10000000000,
		from_ns + (i + 1) * 10000000000, 0, 10 FROM n, epoch WHERE id = 2;
		INSERT INTO flush SELECT 1, 2 + i, 100 + i, from_ns + i * 10000000000,
		from_ns + (i + 1) * 10000000000, duration_ns, received, stored, lost, 0
		FROM n, flush WHERE run = 1 AND seq = 2"
	for table in tally:kind,stream,received,stored,not_delivered,enabled_ns,running_ns,throttled \
		profile:image,stream,context,kind,total,counts comm:comm,image,stream,n; do
		echo "; INSERT INTO ${table%:*} SELECT 100 + i, ${table#*:} FROM n, ${table%:*}
			WHERE epoch = 2"
	done
}
