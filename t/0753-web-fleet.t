#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The page on the store of a fleet: reports, the choice of machines, their map.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
. "$srcdir/t/web_page.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need curl sqlite3
missing=$(store_lacks old)
[ -z "$missing" ] || skip_all "$missing"

plan 27

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
store_start old "$tmp/old"
store=clickhouse://127.0.0.1:$store_port/cpi
cpi fleet init --db "$store" >/dev/null || bail 'no store'
for fleet in '1 5 frankfurt 4.2' '6 3 dublin 4.3'; do
	# shellcheck disable=SC2086 # words
	set -- $fleet
	rm -f many.db*
	"$builddir/t/bench/fleet_hosts" known.db many.db "$1" "$2" 6 400 >/dev/null || bail 'fleet_hosts failed'
	cpi-ship --store "$store" --budget 100 --rate 0 --once --db many.db --cluster "$3" --release "$4" 2>ship.log ||
		bail "nothing was shipped: $(cat ship.log)"
done

web_start --db="$store"
get api/v1/prof?epoch=all >web.out
is "$(cat web.out)" "$(cpi prof --epoch all --db "$store" --format=json 2>/dev/null)" 'a report of the store is that of the command'
get 'api/v1/hosts?cluster=dublin&format=csv' | cut -d, -f1 >web.out
is "$(paste -s web.out)" 'host	h00006	h00007	h00008' 'hosts lists the machines of a cluster'
get 'api/v1/fleet-top?by=host&quota=1' >web.out
like "$(status) $(cat web.out)" '400.*no option quota' 'options that change the store are refused'
get api/v1/ >web.out
like "$(cat web.out)" '"fleet": true' 'the list of reports says that it is a fleet'

"$browser_python" "$srcdir/t/web_fleet.py" "$url" "$builddir/tools/cpi" "$store" $tap_n
tap_n=$((tap_n + 15))
web_stop
is "$?" 0 'cpi-web ends'

# Machines with cycles and instructions; the last one has few samples.
store=clickhouse://127.0.0.1:$store_port/cycles
cpi fleet init --db "$store" >/dev/null || bail 'no store'
for samples in a:900,500 b:400,800 c:700,700 d:90,3; do
	host=${samples%:*}
	echo "- 3600 1000 /app:main=${samples#*:}" | "$builddir/t/runsdb" $host.db && sqlite3 $host.db "
		UPDATE platform SET host = '$host';
		UPDATE stream SET event = 'cycles', unit = 'cycles' WHERE event = 'cpu-clock';
		UPDATE stream SET event = 'instructions', unit = 'events' WHERE event = 'ticks'" || bail 'no machine'
	cpi-ship --store "$store" --budget 100 --rate 0 --once --db $host.db 2>ship.log || bail "$(cat ship.log)"
done
web_start --db="$store"
"$browser_python" "$srcdir/t/web_fleet_cpi.py" "$url" "$builddir/tools/cpi" "$store" $tap_n
tap_n=$((tap_n + 6))
web_stop

web_start --db=known.db
get api/v1/ >web.out
like "$(cat web.out)" '"fleet": false' 'a database is no fleet'
