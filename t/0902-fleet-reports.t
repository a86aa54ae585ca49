#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The reports of a fleet of one equal those of its machine's database, to the digit.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 curl sqlite3

plan "$(store_tests 51)"

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"
for n in 1 2 3; do
	echo "old 10 1000 alpha=$((2000 + 11 * n)) beta=$((1500 - 9 * n)) main;alpha=200 comm=gcc@main;beta=$((90 + n))"
	echo "new 10 2000 alpha=$((1000 + 6 * n)) beta=$((950 - 5 * n)) main;alpha=120 comm=gcc@main;beta=$((50 + n)) 1!beta;gamma=7"
done | "$builddir/t/runsdb" runs.db || bail "runsdb failed"
# More machines, one of another kind.
MKDB_HOST=web2 "$builddir/t/mkdb" web2.db "$builddir/t/target" || bail "mkdb failed"
MKDB_HOST=arm1 MKDB_ARCH=aarch64 "$builddir/t/mkdb" arm1.db "$builddir/t/target" || bail "mkdb failed"

MKDB_ACCESSES=1 MKDB_HOST=data1 "$builddir/t/mkdb" data.db "$builddir/t/target" || bail "mkdb failed"

# Containers: one with a name, one in it, and one whose name is told later.
outer=$(printf 'b%063d' 1) inner=$(printf 'c%063d' 2) nameless=$(printf 'a%063d' 3)
box=cgroup=/system.slice/docker-$outer.scope
pod=cgroup=/kubepods/pod0123abcd-0123-0123-0123-0123456789ab/$nameless
echo "boxes 10 1000 $box&@main=50 $box/docker/$inner&@main=7 $pod&@main=3 cgroup=/system.slice/ssh.service&@main=2 main=62" |
	"$builddir/t/runsdb" boxes.db || bail "runsdb failed"
sqlite3 boxes.db "INSERT INTO container VALUES ('$outer', 'shop-1', 7), ('$inner', 'cart-7', 8)" || bail 'boxes.db'
echo "later 10 1000 $pod&@main=3 main=3" | "$builddir/t/runsdb" later.db || bail "runsdb failed"
sqlite3 later.db "INSERT INTO container VALUES ('$nameless', 'shop/cart/app', 9)" || bail 'later.db'

# one_engine NAME: 51 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi
	ship="cpi-ship --store $url --budget 100 --once"
	cpi fleet init --db "$url" >/dev/null && $ship --db known.db 2>ship.log || bail 'nothing was shipped'
	for epoch in full half all last 1..2 recent; do
		store_agrees "$1" '--db known.db' prof --epoch $epoch --format json
	done
	for by in image comm line; do
		store_agrees "$1" '--db known.db' prof --epoch all --by $by --format json
	done
	store_agrees "$1" '--db known.db' prof --epoch all --idle --format json --image '*/target'
	store_agrees "$1" '--db known.db' prof --epoch all --event page-faults --format csv
	store_agrees "$1" '--db known.db' prof --epoch full --over-time --format json
	cpi prof --epoch all --svg machine.svg --db known.db >/dev/null 2>&1
	cpi prof --epoch all --svg fleet.svg --db "$url" >/dev/null 2>fleet.err
	cmp machine.svg fleet.svg
	ok $? "$1: a picture from the store has the intervals of the machine's"
	store_agrees "$1" '--db known.db' prof --epoch 2026-01-02T03:00..2026-01-02T03:05 --host 'we?1*' --format json
	store_status=1
	store_agrees "$1" '--db known.db' prof --epoch all --host "w'%_" --format json
	store_status=
	for command in 'list target_hot' 'calc target_hot' 'calc --all' sum hot stalls; do
		# shellcheck disable=SC2086 # words
		store_agrees "$1" '--db known.db' $command --epoch full --format json
	done
	store_agrees "$1" '--db known.db' diff full half --format json
	store_agrees "$1" '--db known.db' stats --epoch all --format json
	store_agrees "$1" '--db known.db' epoch list --format json
	store_status=1
	store_agrees "$1" '--db known.db' prof --epoch nonsense --format json
	store_status=
	like "$(cpi epoch rm --db "$url" 1 2>&1)" "a machine's own database" "$1: cpi epoch rm of a store is refused"

	# While a slow store answers, an epoch leaves times that are relative to now.
	mkfifo "end.$1"
	python3 "$srcdir/t/faulty_proxy.py" "$store_port" 1 0 'FROM profile' 5 <"end.$1" >"proxy.$1" &
	tap_pids="$tap_pids $!"
	exec 7>"end.$1"
	await test -s "proxy.$1" || bail 'no proxy'
	back=$(($(date +%s) - $(date -d 2026-01-02T03:01Z +%s) + 4))
	like "$(cpi prof --epoch "-${back}s" --format csv --db "clickhouse://127.0.0.1:$(cat "proxy.$1")/cpi" 2>&1)" \
		target_hot "$1: relative times count from the start of the report"
	exec 7>&-

	# Epochs to compare, with call stacks.
	url=clickhouse://127.0.0.1:$store_port/runs
	cpi fleet init --db "$url" >/dev/null &&
		cpi-ship --store "$url" --budget 100 --once --db runs.db 2>>ship.log || bail 'nothing was shipped'
	store_agrees "$1" '--db runs.db' flame --epoch old
	store_agrees "$1" '--db runs.db' tree --epoch new --format json
	store_agrees "$1" '--db runs.db' callers beta --epoch all --format json
	store_agrees "$1" '--db runs.db' prof --children --epoch all --format json
	store_agrees "$1" '--db runs.db' export --epoch all --format collapsed
	store_agrees "$1" '--db runs.db' diff old new --format json
	store_agrees "$1" '--db runs.db' diff old new --by image --format csv
	store_agrees "$1" '--db runs.db' stats old --format json
	store_agrees "$1" '--db runs.db' prof --by comm --epoch all --format json
	store_agrees "$1" '--db runs.db' epoch list --format json
	# Names of containers.
	url=clickhouse://127.0.0.1:$store_port/boxes
	ship_boxes="cpi-ship --store $url --budget 100 --once"
	cpi fleet init --db "$url" >/dev/null && $ship_boxes --db boxes.db 2>>ship.log || bail 'nothing was shipped'
	store_agrees "$1" '--db boxes.db' prof --by container --epoch boxes --format json
	like "$(tr -d '\n' <fleet.out)" '"shop-1".*"cart-7"' "$1: containers have their names"
	store_agrees "$1" '--db boxes.db' prof --container 'shop*' --epoch boxes --format json
	$ship_boxes --host later --db later.db 2>>ship.log || bail 'nothing was shipped'
	like "$(cpi prof --by container --epoch boxes --format csv --db "$url" 2>&1)" 'shop/cart/app' \
		"$1: a name that was told later is that of earlier epochs, too"
	# Data that windows touched.
	url=clickhouse://127.0.0.1:$store_port/data
	cpi fleet init --db "$url" >/dev/null &&
		cpi-ship --store "$url" --budget 100 --once --db data.db 2>>ship.log || bail 'nothing was shipped'
	for epoch in full all; do
		store_agrees "$1" '--db data.db' calc target_hot --epoch $epoch --format json
	done
	like "$(cat fleet.out)" '"data": {' "$1: a report from the store shows how far apart data is"
	store_agrees "$1" '--db data.db' calc target_hot --epoch full
	url=clickhouse://127.0.0.1:$store_port/cpi

	# Several machines are what their databases are together.
	$ship --db web2.db 2>>ship.log && $ship --db arm1.db 2>>ship.log || bail 'nothing was shipped'
	cpi prof --epoch full --by image --format csv --db known.db --db web2.db >machine.out 2>/dev/null
	cpi prof --epoch full --by image --format csv --db "$url" --host 'web*' >fleet.out 2>fleet.err
	is "$(cat fleet.out)" "$(cat machine.out)" "$1: a report adds up two hosts"
	like "$(cat fleet.err)" 'several hosts, added up: web1, web2' "$1: a report names the hosts that it adds up"
	cpi export --epoch full --image target --format collapsed --db known.db --db web2.db 2>/dev/null | sort >machine.out
	cpi export --epoch full --image target --format collapsed --db "$url" --host 'web*' 2>fleet.err | sort >fleet.out
	is "$(cat fleet.out)" "$(cat machine.out)" "$1: exported samples have their machines"
	like "$(cat fleet.out)" '^web2;target;target_hot 600' "$1: the second machine is among them"
	like "$(cpi prof --epoch all --db "$url" 2>&1)" 'of several platforms' \
		"$1: machines with different CPUs are not added up"

	# Of two shipments that have an epoch, the one is not void yet.
	url=clickhouse://127.0.0.1:$store_port/runs store_db=runs
	for table in epoch flush; do
		columns=$(store_sql "SELECT arrayStringConcat(groupArray(name), ', ') FROM system.columns WHERE
			database = 'runs' AND table = '$table'")
		store_sql "INSERT INTO $table ($columns) SELECT $(echo "$columns" | sed 's/\bnr\b/toUInt16(nr + 500)/') FROM $table"
	done
	store_db=
	is "$(cpi prof --epoch all --db "$url" >fleet.out 2>&1; echo "$?")" 0 "$1: two shipments may have the same flushes"
}

each_store one_engine
