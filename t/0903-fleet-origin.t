#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Clusters, releases and machine types: told to cpi-ship, marked, and chosen by in reports.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan $((9 + $(store_tests 27)))

nowhere=clickhouse://127.0.0.1:1/cpi
long=$(printf '%0201d' 0)
bad 'status 2: .*--cluster: .*is no valid NAME' 'a long cluster is refused' cpi-ship --store $nowhere --cluster "$long"
bad 'status 2: .*--machine: .*is no valid TYPE' 'a long machine type is refused' cpi-ship --store $nowhere --machine "$long"
bad 'status 2: .*--release: .*is no valid NAME' 'a release with control characters is refused' \
	cpi-ship --store $nowhere --release "$(printf 'a\033b')"
bad 'status 2: .*CPI_CLUSTER: at most 200 bytes' 'a bad cluster in the environment is refused' \
	env CPI_CLUSTER="$long" cpi-ship --store $nowhere

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"
MKDB_HOST=web2 "$builddir/t/mkdb" web2.db "$builddir/t/target" || bail "mkdb failed"
MKDB_HOST=old1 "$builddir/t/mkdb" old1.db "$builddir/t/target" || bail "mkdb failed"
for option in cluster release machine; do
	bad "status 1: .*machine's own database" "a machine's database has no --$option" \
		cpi prof --db known.db --epoch all --$option x
done
bad "status 1: .*machine's own database" 'several databases have no release either' cpi prof --db known.db --db web2.db --cluster x
bad 'status 1: ' 'release:NAME is no epoch of a database' cpi prof --db known.db --epoch release:full

# web2 got release 1.0 before its first epoch, 2.0 in the middle of its second one.
first=$(sqlite3 web2.db 'SELECT min(from_ns) FROM epoch')
sqlite3 web2.db "INSERT INTO mark (host, at_ns, text) VALUES ('web2', $first - 5000000000, 'release 1.0'),
	('web2', (SELECT from_ns + 30000000000 FROM epoch WHERE id = 2), 'release 2.0'),
	('web2', $first - 4000000000, 'release'), ('other', $first - 1, 'release 9')" || bail 'no marks'
# old1 has marks at the ends of its epochs.
sqlite3 old1.db "INSERT INTO mark (host, at_ns, text)
	SELECT 'old1', from_ns + 500000000, 'release r' || id FROM epoch" || bail 'no marks'

# origins HOST: the release of each of its epochs
origins()
{
	store_sql "SELECT release FROM (SELECT host, at, nr, name FROM epoch WHERE $valid) AS e ANY LEFT JOIN
		(SELECT host, at, nr, release FROM origin) AS o USING host, at, nr
		WHERE name = '$1' ORDER BY at" | paste -s -d ' '
}

# choose NAME MACHINE STORE...: the epochs that the words of STORE choose are those that the
# words of MACHINE name.
choose()
{
	choose_name=$1 choose_machine=$2
	shift 2
	store_words=$*
	store_agrees "$choose_name" "$choose_machine" prof --by image --format csv
	store_words=
}

valid='(host, at, nr) NOT IN (SELECT host, at, nr FROM void)'
# one_engine NAME: 27 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi store_db=cpi
	ship="cpi-ship --store $url --budget 100 --once"
	cpi fleet init --db "$url" >/dev/null || bail 'no store'
	$ship --db known.db --cluster eu 2>ship.log &&
		CPI_CLUSTER=us CPI_MACHINE="large'%_" CPI_RELEASE=0.9 $ship --db web2.db 2>>ship.log &&
		$ship --db old1.db --cluster eu-west --machine 'large' --release 0.9 2>>ship.log ||
		bail "nothing was shipped: $(cat ship.log)"
	is "$(origins web1)" 'full half ' "$1: without other information the label is the release"
	is "$(origins web2)" '1.0 1.0..2.0 2.0' "$1: a mark begins a release; an epoch that contains it belongs to neither"
	is "$(origins old1)" 'r1 r2 r3' "$1: a mark less than a second after an epoch's start counts as before it"
	is "$(cpi fleet hosts --db "$url" --format csv | sed 's/\(,[^,]*\)\{3\}$//' | cut -d, -f1,10-)" "host,kernel,machine,cluster,release,version
old1,6.1.0,large,eu-west,r3,0.1.0
web1,6.1.0,\"Test CPU, 2 CPUs\",eu,,0.1.0
web2,6.1.0,large'%_,us,2.0,0.1.0" "$1: cpi fleet hosts shows cluster, machine and release"
	is "$(cpi fleet hosts --db "$url" --cluster 'eu*' --release 'r[12]' --format csv | cut -d, -f1,3)" "host,epochs
old1,2" "$1: cpi fleet hosts selects by them"

	choose "$1: --cluster selects one cluster" '--db known.db --epoch all' --epoch all --cluster eu
	choose "$1: --cluster selects by a character set" '--db known.db --epoch all' --epoch all --cluster '[e-f]?'
	choose "$1: --release selects one release" '--db web2.db --epoch 1' --epoch all --release '1.?'
	choose "$1: --epoch release:NAME selects the release's epochs" '--db web2.db --epoch 3' --epoch release:2.0
	choose "$1: the epoch between two releases belongs to neither" '--db web2.db --epoch 2' --epoch 'release:1.0..2.0'
	choose "$1: --machine selects by a name with quotes and wildcards" '--db web2.db --epoch all' --epoch all --machine "*'%_"
	choose "$1: a backslash makes a wildcard an ordinary character" '--db web2.db --epoch all' --epoch all --machine "large\\'?_"
	choose "$1: the three options combine" '--db known.db --epoch full' --epoch full --cluster 'e*' --machine 'Test*'
	choose "$1: a report adds up several machines" '--db known.db --db web2.db --epoch all' \
		--epoch all --cluster '[eu][us]'
	cpi diff release:1.0 release:2.0 --db "$url" --format csv >fleet.out 2>/dev/null
	is "$(cat fleet.out)" "$(cpi diff 1 3 --db web2.db --format csv 2>/dev/null)" "$1: cpi diff compares two releases"
	is "$(cpi epoch list --db "$url" --release 'r?' --format csv | wc -l)" 4 "$1: cpi epoch list shows the releases' epochs"
	bad 'status 1: .*cpi fleet hosts' "$1: an unknown cluster is an error" \
		cpi prof --db "$url" --epoch all --cluster 'eu_'
	bad 'status 1: .*cpi fleet hosts' "$1: a pattern that matches no cluster is an error" \
		cpi prof --db "$url" --epoch all --cluster '[xy]'
	bad 'status 1: .*say one of them' "$1: two releases are refused" \
		cpi prof --db "$url" --epoch release:1.0 --release 2.0

	# A store of the first version, whose epochs have no origin.
	store_sql 'DROP TABLE origin'
	store_sql 'TRUNCATE TABLE version'
	store_sql 'INSERT INTO version (version) VALUES (1)'
	bad 'status 1: .*cpi fleet init' "$1: a report of an older store is refused" cpi prof --db "$url" --epoch all
	is "$(cpi fleet init --db "$url")" 'database cpi: version 10, brought up to date' "$1: cpi fleet init upgrades it"
	is "$(cpi fleet hosts --db "$url" --format csv | cut -d, -f1,12)" 'host,cluster
old1,
web1,
web2,' "$1: its old epochs have no cluster"

	# A mark that is set while cpid is down, of a time that was shipped.
	rm -f late.db*
	MKDB_HOST=late "$builddir/t/mkdb" late.db "$builddir/t/target"
	cpi-ship --store "$url" --every 1s --budget 100 --db late.db 2>late.log &
	late=$!
	tap_pids="$tap_pids $late"
	within 30 grep -q 'epochs; since' late.log
	cpi mark --db late.db --socket "$tmp/none" --at 2026-01-02T03:00:30 late >/dev/null || bail 'no mark'
	late_mark()
	{
		[ "$(store_sql "SELECT name, text FROM mark WHERE text = 'late'")" = 'late	late' ]
	}
	within 30 late_mark
	ok $? "$1: a mark before the shipped epochs is sent"

	# As from a pod, which is told the node's name.
	cp web2.db pod.db
	sqlite3 pod.db "INSERT INTO gap (from_ns, to_ns, reason, host) VALUES ($first, $first + 1, 'killed', 'web2')"
	$ship --db pod.db --host node1 2>ship.log || bail "nothing was shipped: $(cat ship.log)"
	is "$(origins node1)" '1.0 1.0..2.0 2.0' "$1: marks of a pod's database are those of the node that was told"
	is "$(store_sql "SELECT count(*) FROM mark WHERE name = 'node1'") $(store_sql "SELECT count(*) FROM gap WHERE name = 'node1' AND reason = 'killed'")" \
		'4 1' "$1: the node has the pod's marks and gaps"
	kill $late
	wait $late

	# Users and passwords.
	echo wrong >password
	chmod 600 password
	if [ "$1" = old ]; then
		bad 'status 1: .*ermission denied' "$1: a password without a user is used for the default user" \
			cpi prof --epoch all --db "$url?password-file=$tmp/password"
	else
		skip 1 "$1: passwords (this store has no users)"
	fi
	rm password
	bad 'status 1: .*No such file' "$1: a missing password file is an error" \
		cpi prof --epoch all --db "$url?password-file=$tmp/password"
}

each_store one_engine
