#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What costs most over all machines of a store: against the machines' own databases.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan $((4 + $(store_tests 26)))

nowhere=clickhouse://127.0.0.1:1/cpi
bad 'status 2: .*--by=line: say one of' '--by=line is refused' cpi fleet top --db $nowhere --by line
bad 'status 2: .*--price' 'a negative price is refused' cpi fleet top --db $nowhere --price -1
bad 'status 2: .*name one store' "a machine's database is no fleet" cpi fleet top --db file.db
bad 'status 1: .*no ClickHouse' 'a store that does not answer is an error' cpi fleet top --db $nowhere

"$builddir/t/mkdb" web1.db "$builddir/t/target" || bail 'mkdb failed'
MKDB_HOST=web2 MKDB_RELEASE=6.2 "$builddir/t/mkdb" web2.db "$builddir/t/target" || bail 'mkdb failed'
MKDB_HOST=web3 MKDB_UNIT=cycles "$builddir/t/mkdb" web3.db "$builddir/t/target" || bail 'mkdb failed'
# All names of the target, as machines capture them.
for db in web1 web2 web3; do
	nm -S --defined-only "$builddir/t/target" | while read -r address size kind name; do
		[ -n "$name" ] && echo "$address $size $name"
	done >names
	# Offsets of the text are addresses less what its segment is moved by.
	shift_by=$(readelf -lW "$builddir/t/target" | awk '$1 == "LOAD" && /R E/ { print $3, $2; exit }')
	while read -r address size name; do
		case $name in target_hot | target_cold) ;; *) continue ;; esac
		start=$((0x$address - ${shift_by% *} + ${shift_by#* }))
		sqlite3 $db.db "INSERT OR IGNORE INTO symbol SELECT id, $start, $((0x$size)), '$name' FROM image
			WHERE name LIKE '%/target'"
	done <names
done

MKDB_HOST=shared "$builddir/t/mkdb" shared.db "$builddir/t/target" &&
	sqlite3 shared.db 'UPDATE tally SET enabled_ns = 60000000000, running_ns = 20000000000' || bail 'no shared.db'
decades=1892160000000000000
MKDB_HOST=ahead "$builddir/t/mkdb" ahead.db "$builddir/t/target" &&
	sqlite3 ahead.db "UPDATE epoch SET from_ns = from_ns + $decades, to_ns = to_ns + $decades;
		UPDATE run SET from_ns = from_ns + $decades, to_ns = to_ns + $decades;
		UPDATE flush SET from_ns = from_ns + $decades, to_ns = to_ns + $decades" || bail 'no ahead.db'

# rows DB...: image and ns, the costliest first, of databases
rows()
{
	rows_dbs=
	for rows_db; do
		rows_dbs="$rows_dbs --db $rows_db"
	done
	# shellcheck disable=SC2086 # words
	cpi prof --by "$by" --epoch all --format json $rows_dbs 2>/dev/null | python3 -c '
import json, sys
for r in json.load(sys.stdin)["rows"]:
    if r["image"] and "map_gap" != r["image"] != "ambiguous" and r["time_ns"]:
        print(r.get("procedure") or "-", r["image"], r["time_ns"])' | LC_ALL=C sort
}

# fleet_rows ARGS...: the same of the store
fleet_rows()
{
	cpi fleet top --db "$url" --by "$by" --format json "$@" 2>fleet.err | python3 -c '
import json, sys
for r in json.load(sys.stdin)["rows"]:
    image = r["image"]
    print(r.get("procedure") or "-", image, round(r["cpu_hours"] * 3.6e12))' | LC_ALL=C sort
}

# field NAME ARGS...: a member of the answer
field()
{
	field_name=$1
	shift
	cpi fleet top --db "$url" --format json "$@" 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$field_name"
}

# questions BY ARGS...: prints how many questions a report asks the store
questions()
{
	mkfifo "end.$1"
	python3 "$srcdir/t/faulty_proxy.py" "$store_port" 1 0 <"end.$1" >"proxy.$1" &
	exec 7>"end.$1"
	await test -s "proxy.$1"
	cpi fleet top --db "clickhouse://127.0.0.1:$(cat "proxy.$1")/cpi" --by "$@" >questions.out 2>&1
	exec 7>&-
	wait $!
	sed -n '2s/ .*//p' "proxy.$1"
	rm "end.$1" "proxy.$1"
}

# one_engine NAME: 26 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi
	bad 'status 1: .*cpi fleet init' "$1: without tables cpi fleet top says what to do" cpi fleet top --db "$url"
	cpi fleet init --db "$url" >/dev/null || bail 'no store'
	bad 'status 1: .*no such epoch' "$1: an empty store is an error" cpi fleet top --db "$url"
	cpi-ship --store "$url" --budget 100 --once --db web1.db --cluster eu --release 1 2>ship.log &&
		cpi-ship --store "$url" --budget 100 --once --db web2.db --cluster us --release 2 2>>ship.log ||
		bail "nothing was shipped: $(cat ship.log)"
	by=image
	is "$(fleet_rows)" "$(rows web1.db web2.db)" "$1: the time by image equals that of the databases"
	is "$(fleet_rows --cluster us)" "$(rows web2.db)" "$1: the same for one cluster"
	is "$(fleet_rows --host web1 --release 1)" "$(rows web1.db)" "$1: the same for one host and release"
	by=procedure
	is "$(fleet_rows)" "$(rows web1.db web2.db)" "$1: the time by procedure equals that of the databases"
	like "$(fleet_rows)" 'target_hot ' "$1: procedures have the names that machines captured"
	for by in host cluster release; do
		is "$(cpi fleet top --db "$url" --by $by --format csv | cut -d, -f3,6,7)" "percent,samples,$by
50.00,1195,$(case $by in host) echo web1 ;; cluster) echo eu ;; *) echo 1 ;; esac)
50.00,1195,$(case $by in host) echo web2 ;; cluster) echo us ;; *) echo 2 ;; esac)" "$1: the time by $by equals that of the databases"
	done
	is "$(cpi fleet top --db "$url" --by machine --format csv | cut -d, -f3,7-)" 'percent,machine
100.00,"Test CPU, 2 CPUs"' "$1: the time by machine equals that of the databases"
	of_hosts=$(questions host) of_images=$(questions image) of_procedures=$(questions procedure)
	is "$((of_images - of_hosts)) $((of_procedures - of_images))" '1 1' "$1: cpi fleet top asks the store only for the names that it shows"
	of_interval=$(questions host --epoch 2026-01-01..2026-01-03)
	of_cpi=$(questions host --cpi) of_cpi_interval=$(questions host --cpi --epoch 2026-01-01..2026-01-03)
	is "$((of_hosts - of_interval)) $((of_cpi - of_cpi_interval))" '1 1' "$1: it asks for the newest day once, also for --cpi"
	is "$(field seconds --epoch 2026-01-02T03:00..03:01)" 60 "$1: --epoch selects an interval"
	is "$(field cpus --epoch 2026-01-02T03:00..03:01 --host web1)" \
		"$(cpi prof --epoch 1 --db web1.db --by image --format json 2>/dev/null | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
print("%.15g" % (sum(r["time_ns"] for r in rows if r["image"] not in ("map_gap", "ambiguous")) / 60e9))')" \
		"$1: the number of CPUs is CPU time divided by wall time"
	is "$(field cost --price 0.5)" "$(field cpu_hours | python3 -c 'print("%.15g" % (float(input()) * 0.5))')" \
		"$1: --price adds the cost"
	is "$(cpi fleet top --db "$url" --limit 1 --format csv | wc -l)" 2 "$1: --limit keeps the rows with most time"
	bad 'status 1: .*say times' "$1: a label as --epoch is refused" cpi fleet top --db "$url" --epoch full
	bad 'status 1: .*not among' "$1: an event that does not measure time is refused" \
		cpi fleet top --db "$url" --event page-faults
	bad 'status 1: .*no such epoch' "$1: an interval without epochs is an error" \
		cpi fleet top --db "$url" --epoch 2025-01-01
	bad 'status 1: .*no such epoch' "$1: an unknown cluster is an error" \
		cpi fleet top --db "$url" --cluster asia

	# A shipment that became void does not count; nor does one that was not completed.
	sqlite3 web1.db 'UPDATE epoch SET label = ""' && cp web1.db rolled.db && cpi epoch roll --db rolled.db >/dev/null ||
		bail 'roll failed'
	cpi-ship --store "$url" --budget 100 --once --db rolled.db --release 1 2>>ship.log
	by=image
	is "$(fleet_rows --release 1)" "$(rows web1.db)" "$1: an hour that replaces its minutes counts once"

	# An event that had its counter for a part of the time.
	cpi-ship --store "$url" --budget 100 --once --db shared.db --cluster shared 2>>ship.log || bail 'nothing was shipped'
	is "$(fleet_rows --cluster shared)" "$(rows shared.db)" "$1: the time of an event that shared its counter is scaled up"

	# A machine whose clock is decades ahead.
	cpi-ship --store "$url" --budget 100 --once --db ahead.db 2>>ship.log || bail 'nothing was shipped'
	is "$(cpi fleet top --db "$url" --by host --format csv 2>/dev/null | cut -d, -f7 | sort | paste -s -d' ')" \
		'host shared web1 web2' "$1: a machine whose clock is ahead hides no other machine"
	like "$(cpi fleet top --db "$url" --by host --format csv --epoch 2085-12-01.. 2>/dev/null)" 'ahead' \
		"$1: --epoch selects the epochs of that machine by their times"

	# A list of hosts that is longer than a statement may be by default.
	store_db=cpi
	store_sql "INSERT INTO epoch (host, at, nr, name, from_ns, to_ns) SELECT number + 1000, toDateTime(1767322800), 1,
		concat('a-machine-with-a-rather-long-name-', toString(number)), 1767322800000000000, 1767322860000000000
		FROM system.numbers LIMIT 8000" || bail 'no hosts'
	like "$(cpi fleet top --db "$url" --host 'a-*[0-9]' 2>&1)" \
		'not among the chosen' "$1: a character set selects among thousands of hosts"
}

each_store one_engine
