#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-ship as a service: its configuration files, what it tells the service manager, and its
# metrics, while its store is away and when it is there.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
. "$srcdir/t/web.sh"
PATH="$builddir/ship:$PATH"
need python3 curl
plan 39
unset CPI_STORE
CPI_SHIP_CONFIG=$PWD/ship.conf
export CPI_SHIP_CONFIG

# config: the lines of the configuration from now on.
config()
{
	{ echo '[cpi-ship]' && cat; } >ship.conf
}

# checked: what --check-config says of the files, and its status.
checked()
{
	cpi-ship --check-config "$@" >out 2>&1
	echo "$? $(cat out)"
}

# ---- files ----
config </dev/null
like "$(checked)" '^2 .*name a store' 'a configuration without a store is refused'
config <<'.'
store = clickhouse://store:8123/cpi
every = never
.
like "$(checked)" '^2 .*ship.conf:3:9: every: "never"' 'a wrong value is reported with file, line and column'
config <<'.'
stroe = clickhouse://store:8123/cpi
.
like "$(checked)" '^2 .*ship.conf:2:1: .*did you mean "store"' 'a misspelt option gets a suggestion'
config <<'.'
once = yes
.
like "$(checked)" '^2 .*ship.conf:2:1: there is no option "once"' 'an option of the command line alone is refused in a file'
config <<'.'
store = clickhouse://store:8123/c;d
.
like "$(checked)" '^2 .*no name of a database' 'a bad store in a file is refused'
mkdir ship.conf.d
printf '[cpi-ship]\nstore = clickhouse://store:8123/cpi\n' >ship.conf.d/store.conf
like "$(checked)" '^0 store  *clickhouse://store:8123/cpi  *.*/ship.conf.d/store.conf:2$' \
	'a later file replaces a wrong value'
like "$(checked --store clickhouse://a/b --every 0s)" '^2 .*--every: "0s"' 'a wrong value on the command line is refused'
like "$(cpi-ship --config nowhere.conf --check-config 2>&1)" 'nowhere.conf' \
	'a missing file of --config is an error'

# Each option once, commented out, with its default.
example=$srcdir/ship/cpi-ship.conf
is "$(sed -n 's/^#\([a-z-]*\) =.*/\1/p' "$example" | sort)" "$(cpi-ship --help |
	sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' | grep -vx 'config\|check-config\|once\|help\|version' | sort)" \
	'the example file has every option'
sed 's/^#\([a-z-]* =\)/\1/' "$example" >all.conf
try 'all settings of the example are valid' env CPI_STORE=clickhouse://store/cpi \
	cpi-ship --config all.conf --check-config
CPI_STORE=clickhouse://store/cpi
export CPI_STORE
is "$(cpi-ship --config all.conf --check-config | awk '$1 != "db" { print $1, $2 }')" \
	"$(cpi-ship --config /dev/null --check-config | awk '$NF == "default" { print $1, $2 }')" \
	'the values of the example are the defaults, and none is set that has no default'
unset CPI_STORE

# ---- a store that is away ----
"$builddir/t/mkdb" t.db "$builddir/t/target" >/dev/null || bail 'mkdb failed'
# shellcheck disable=SC2046 # one word
set -- $(free_ports 1)
config <<.
store = clickhouse://127.0.0.1:$1/cpi
db = $PWD/t.db
.
rm -r ship.conf.d
mkdir -p run/cpi-ship
mkfifo manager
"$builddir/t/cpid_peer" notify notify.sock >manager &
tap_pids="$tap_pids $!"
exec 3<manager
# heard PATTERN: waits for such a line.
heard()
{
	while read -r heard_line <&3; do
		case $heard_line in
		$1) return 0 ;;
		esac
	done
	return 1
}
heard bound || bail 'no service manager'
NOTIFY_SOCKET=$PWD/notify.sock WATCHDOG_USEC=2000000 RUNTIME_DIRECTORY=$PWD/run/cpi-ship \
	cpi-ship >ship.log 2>&1 3<&- &
ship_pid=$!
tap_pids="$tap_pids $ship_pid"
try 'cpi-ship reports ready before the store answers' heard READY=1
try 'the status line says that shipping fails' heard 'STATUS=shipping has been failing for*epochs wait in the database'
try 'cpi-ship notifies the watchdog' heard WATCHDOG=1
# series: the file's, sorted; a strict parser reads it.
series()
{
	"$srcdir/t/prometheus_check.py" <run/cpi-ship/metrics.prom >series
}
try 'a strict parser accepts the metrics' series
is "$(stat -c %a run/cpi-ship/metrics.prom)" 644 'every user may read the metrics'
# value NAME
value()
{
	awk -v name="cpi_ship_$1" '$1 == name { print $2 + 0 }' series
}
is "$(value up) $(value store_failing) $(value epochs_total)" '1 1 0' 'the metrics say that the store fails'
web_start --db t.db --ship-metrics=run/cpi-ship/metrics.prom
get metrics >metrics.out
like "$(cat metrics.out)" '^cpi_ship_store_failing 1$' 'cpi-web serves the metrics of cpi-ship'
try 'cpi-web serves one valid set of metrics' "$srcdir/t/prometheus_check.py" <metrics.out
web_stop
{ cat run/cpi-ship/metrics.prom && echo 'foreign 0'; } >foreign.prom
web_start --db t.db --ship-metrics=foreign.prom
is "$(get metrics | grep -c '^foreign 0')" 0 'cpi-web takes only metrics of cpi-ship from the file'
web_stop

# ---- a reload ----
# in_force OPTION: its value and origin, as 'cpi config' says.
in_force()
{
	CPI_RUN=$PWD/run cpi config --socket none --format=csv | tr -d '\r' | sed -n "s|$PWD/||g; s/^cpi-ship,$1,//p"
}
# reload: the lines of the configuration from now on, which it is told to read.
reload()
{
	config
	kill -HUP "$ship_pid"
	heard 'RELOADING=1*' && heard READY=1
}
is "$(in_force every)" 'auto,default' 'cpi config shows a default'
is "$(in_force store)" "clickhouse://127.0.0.1:$1/cpi,ship.conf:2" 'cpi config shows a value of the file'
reload <<.
every = 7m
store = clickhouse://127.0.0.1:$1/other
db = $PWD/other.db
.
is $? 0 'a reload notifies the service manager at its start and end'
is "$(in_force every) $(in_force store)" "7m,ship.conf:2 clickhouse://127.0.0.1:$1/other,ship.conf:3" \
	'a reload applies another interval and another store'
is "$(in_force db)" t.db,ship.conf:3 'a reload does not change the database'
like "$(cat ship.log)" 'changed: store every' 'the log says what a reload has changed'
like "$(cat ship.log)" 'need a restart: db' 'the log says what needs a restart'
reload <<.
every = never
.
is "$? $(in_force every)" '0 7m,ship.conf:2' 'a reload of a wrong file changes nothing'
try 'cpi-ship goes on after a failed reload' heard 'STATUS=shipping has been failing for*epochs wait in the database'

kill -TERM "$ship_pid"
try 'cpi-ship notifies the service manager when it ends' heard STOPPING=1
wait "$ship_pid"
is "$? $(ls -A run/cpi-ship)" '0 ' 'cpi-ship removes the metrics when it ends'
config </dev/null

# ---- a store that is silent ----
mkfifo end
python3 -c 'import socket, sys
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
sys.stdin.read()' <end >silent &
tap_pids="$tap_pids $!"
exec 7>end
await test -s silent || bail 'no silent server'
NOTIFY_SOCKET=$PWD/notify.sock WATCHDOG_USEC=2000000 cpi-ship --store "clickhouse://127.0.0.1:$(cat silent)/cpi" \
	>ship.log 2>&1 3<&- 7>&- &
ship_pid=$!
tap_pids="$tap_pids $ship_pid"
# beats N: so many beats come before the store is given up.
beats()
{
	beats_left=$1
	while [ "$beats_left" -gt 0 ]; do
		heard '[SW][TA]*' || return 1
		[ "$heard_line" = WATCHDOG=1 ] || return 1
		beats_left=$((beats_left - 1))
	done
}
heard READY=1 || bail 'cpi-ship is not ready'
try 'cpi-ship notifies the watchdog while it waits for a silent connection' beats 3
kill -TERM "$ship_pid"
wait "$ship_pid"
exec 7>&-

# ---- a store that is there ----
lacks=$(store_lacks old)
if [ -n "$lacks" ]; then
	skip 7 "$lacks"
	exit
fi
store_start old store
cpi fleet init --db "clickhouse://127.0.0.1:$store_port/cpi" >/dev/null || bail 'no tables'
config <<.
store = clickhouse://127.0.0.1:$store_port/cpi
db = $PWD/t.db
.
# A server whose queue of connections is full is like one that is off: SYNs are dropped.
mkfifo full
python3 -c 'import socket, sys
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(0)
held = [socket.socket() for _ in range(4)]
for s in held:
    s.setblocking(False)
    s.connect_ex(server.getsockname())
print(server.getsockname()[1], flush=True)
sys.stdin.read()' <full >dead &
tap_pids="$tap_pids $!"
exec 7>full
await test -s dead || bail 'no dead server'
cpi fleet hosts --db "clickhouse://127.0.0.1:$(cat dead),127.0.0.1:$store_port/cpi" >out 2>&1
is "$?" 0 'if a host does not answer, the next one is tried' || note "$(cat out)"
exec 7>&-
RUNTIME_DIRECTORY=$PWD/run/cpi-ship cpi-ship >ship.log 2>&1 3<&- &
ship_pid=$!
tap_pids="$tap_pids $ship_pid"
is_level()
{
	[ -e run/cpi-ship/metrics.prom ] && series && [ "$(value store_failing)" = 0 ] &&
		[ "$(value epochs_total)" -gt 0 ] &&
		[ "$(value level_timestamp_seconds)" -gt "$(value start_timestamp_seconds)" ]
}
try 'the metrics say that all epochs are in the store' await is_level
sed 's/^/# /' series
is "$(value epochs_total)" "$(store_db=cpi store_sql 'SELECT count() FROM epoch')" \
	'the store has as many epochs as the metrics say'
bound "$(value sent_bytes_total)" '>' 100 'the metrics count the bytes that were sent'
cpi-ship --once --host node-7 >once.log 2>&1
is "$? $(store_db=cpi store_sql "SELECT count() FROM epoch WHERE host IN (SELECT number FROM host WHERE name = 'node-7')")" \
	"0 $(value epochs_total)" 'after a change of the machine name the store has the epochs under the new name'
kill -KILL "$ship_pid"
wait "$ship_pid" 2>/dev/null
series
is "$(value up)" 1 'after a kill the metrics stay, and their age shows it'
bound $(($(date +%s) - $(value written_timestamp_seconds))) '<=' 300 'the metrics have a time'
