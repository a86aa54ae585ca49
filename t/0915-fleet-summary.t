#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-ship's sums of epochs, and random parts of their samples, in real stores: --sums and
# --thin, or what a budget of bytes is enough for.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan $((6 + $(store_tests 44)))

bad 'status 2: .*--thin needs --sums' '--thin with neither --sums nor a budget of bytes is refused' \
	cpi-ship --once --budget 1 --thin 5 --store clickhouse://a/b
bad 'status 2: .*--budget: "1%,x" is no valid PERCENT' 'a wrong number of bytes is refused' \
	cpi-ship --once --budget 1%,x --store clickhouse://a/b
bad 'status 2: .*--thin: "0" is no valid N' 'one in 0 samples is refused' cpi-ship --sums 1h --thin 0 --store clickhouse://a/b
bad 'status 2: .*--sums: "2d" is no valid TIME' 'sums of more than a day are refused' \
	cpi-ship --sums 2d --store clickhouse://a/b
bad 'status 2: .*--sums: "45m" is no valid TIME' 'sums that begin and end within hours are refused' \
	cpi-ship --sums 45m --store clickhouse://a/b
like "$(cpi-ship --sums 1h --thin 25 --store clickhouse://a/b --check)" 'thin  *25 ' 'both can be set'

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
sqlite3 known.db "UPDATE epoch SET label = ''" || bail 'no epochs without labels'
# Of a run that goes on: today's first two minutes.
cp known.db today.db
day=$(($(date +%s) / 86400 * 86400))
sqlite3 today.db "DELETE FROM epoch WHERE id = 3; DELETE FROM flush WHERE epoch = 3; DELETE FROM tally WHERE epoch = 3;
	DELETE FROM profile WHERE epoch = 3; DELETE FROM comm WHERE epoch = 3; DELETE FROM run WHERE id = 2;
	UPDATE run SET from_ns = $day * 1000000000;
	UPDATE epoch SET from_ns = ($day + 60 * (id - 1)) * 1000000000, to_ns = ($day + 60 * id) * 1000000000;
	UPDATE flush SET from_ns = ($day + 60 * (seq - 1)) * 1000000000, to_ns = ($day + 60 * seq) * 1000000000" ||
	bail 'today.db'
cp today.db damaged.db
sqlite3 damaged.db "UPDATE run SET state = 1; UPDATE profile SET counts = x'ffffffffff' WHERE epoch = 2" || bail 'damaged.db'

# An ended run with 73 epochs in an hour; and the same when it had 42 of them, which are a sum.
cp known.db whole.db
sqlite3 whole.db "$(sql_more_epochs "''")
	; UPDATE epoch SET to_ns = from_ns + 10000000000 WHERE id = 2; UPDATE run SET state = 1" ||
	bail 'whole.db'
cp whole.db part.db
for table in epoch:id flush:epoch tally:epoch profile:epoch comm:epoch; do
	sqlite3 part.db "DELETE FROM ${table%:*} WHERE ${table#*:} > 140" || bail 'part.db'
done
# Then an epoch of the sum gets a label, and the rest of the hour becomes one.
sqlite3 whole.db "UPDATE epoch SET label = 'mid' WHERE id = 120" && cpi epoch roll --db whole.db >/dev/null ||
	bail 'whole.db'

# A machine's hours until midnight; and the same before the last one.
"$builddir/t/bench/fleet_hosts" known.db day.db 1 1 21 40000 >/dev/null || bail 'day.db'
cp day.db early.db
for table in epoch:id flush:epoch tally:epoch profile:epoch comm:epoch; do
	sqlite3 early.db "DELETE FROM ${table%:*} WHERE ${table#*:} = 21" || bail 'early.db'
done

# rows DB: procedures and their time, in all epochs
rows()
{
	cpi prof --db "$1" --epoch all --host "${2-*}" --format csv 2>report.err | cut -d, -f1-4
}

# ship HOST DB ARGS...
ship()
{
	ship_host=$1 ship_db=$2
	shift 2
	cpi-ship --store "$url" --budget 100 --rate 0 --once --host "$ship_host" --db "$ship_db" "$@" 2>ship.log ||
		bail "not shipped: $(cat ship.log)"
}

# of HOST: a condition on the shipments of a host
of()
{
	echo "(host, at, nr) IN (SELECT host, at, nr FROM epoch WHERE name = '$1')"
}

# one_engine NAME: 44 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/cpi store_db=cpi
	cpi fleet init --db "$url" >/dev/null || bail 'no store'

	store_sql 'SYSTEM STOP MERGES image' # which remove rows that are there twice
	# All samples, added up.
	ship all known.db --sums 1h
	is "$(store_sql "SELECT first_flush, last_flush, received, stored, lost, one_in FROM epoch ORDER BY at")" \
		"1	2	2116	2107	9	1
1	1	100	100	0	1" "$1: epochs of an hour are one shipment with their sums"
	is "$(rows known.db)" "$(rows "$url" all)" "$1: without --thin all samples arrive"
	like "$(cat report.err)" '2 of 2 epochs are sums, as their machines sent them: without' "$1: a report says what is missing"
	is "$(store_sql "SELECT sum(n) FROM comm")" "$(sqlite3 known.db 'SELECT sum(n) FROM comm')" "$1: commands too"
	is "$(store_sql 'SELECT seq, merged, received FROM flush ORDER BY at, seq')" "2	1	2116
1	0	100" "$1: flushes without a hole are one row"
	# As after a death before names are sent: the next process knows only the store.
	is "$(store_sql 'SELECT count() > 0 FROM symbol')" 1 "$1: names are sent"
	store_sql 'TRUNCATE TABLE symbol'
	ship all known.db --sums 1h
	is "$(store_sql 'SELECT count() FROM (SELECT DISTINCT image, start FROM symbol)')" \
		"$(sqlite3 known.db 'SELECT count() FROM symbol')" "$1: a process sends names that an earlier one did not"
	ship all known.db
	is "$(store_sql 'SELECT count() FROM epoch')" 2 "$1: what was shipped as a sum is not shipped again"

	# One of five.
	ship part known.db --sums 1h --thin 5
	is "$(store_sql 'SELECT count() - uniqExact(id) FROM image')" 0 "$1: a process sends no image that the store has"
	is "$(store_sql "SELECT sum(received), sum(stored), sum(lost), max(one_in) FROM epoch WHERE name = 'part'")" \
		'2216	2207	9	5' "$1: the ledger has the numbers of the machine"
	kept=$(store_sql "SELECT sum(n) FROM profile WHERE counter = 0 AND $(of part)")
	ok "$([ "$kept" -gt 345 ] && [ "$kept" -lt 538 ]; echo $?)" "$1: about a fifth of the samples is kept ($kept of 2207)"
	is "$(store_sql "SELECT sum(stored) FROM tally WHERE $(of part)"), $(store_sql "SELECT sum(n) FROM comm WHERE $(of part)")" \
		"$kept, $kept" "$1: tallies and commands have just these"
	is "$(store_sql "SELECT sum(received) - sum(stored) FROM tally WHERE $(of part)")" \
		"$(store_sql "SELECT sum(n) FROM loss WHERE $(of part)")" "$1: received = stored + losses in the streams"
	is "$(store_sql "SELECT count() FROM (SELECT image, stream, offset, sumIf(n, counter = 0) AS s, sumIf(n, counter > 0)
		AS o FROM profile WHERE $(of part) GROUP BY image, stream, offset) AS t WHERE o > s")" 0 \
		"$1: no offset has more outcomes than samples"
	is "$(store_sql "SELECT DISTINCT mean_period FROM stream WHERE event = 'cpu-clock' AND id IN (SELECT stream FROM
		profile WHERE $(of part)) ORDER BY 1")" \
		"$(sqlite3 known.db "SELECT DISTINCT 5 * mean_period FROM stream s JOIN profile p ON p.stream = s.id
			WHERE event = 'cpu-clock' ORDER BY 1")" "$1: each sample has five times the weight"
	cpi prof --db "$url" --epoch all --host part --format json >part.json 2>report.err
	like "$(cat report.err)" '2 of 2 epochs are sums of one in 5 samples' "$1: a report says how many samples were kept"
	cpi prof --db known.db --epoch all --format json >whole.json 2>/dev/null
	python3 - <<'END'
import json
def time(name):
    return {r["procedure"]: r["time_ns"] for r in json.load(open(name))["rows"] if "procedure" in r}
part, whole = time("part.json"), time("whole.json")
for name in ("target_hot", "target_cold"):
    assert abs(part[name] / whole[name] - 1) < 0.45, (name, part[name], whole[name])
END
	ok $? "$1: procedures have the time that they had, within the error"
	like "$(cpi fleet top --db "$url" --epoch 2026-01-01.. --host part)" '2 epochs have only one in up to 5 samples' \
		"$1: cpi fleet top says it"
	is "$(cpi fleet hosts --db "$url" --format json | python3 -c '
import json, sys
print({r["host"]: r["one_in"] for r in json.load(sys.stdin)["hosts"]})')" "{'all': 1, 'part': 5}" "$1: cpi fleet hosts, too"
	# Samples of both machines: the squares of their errors add up.
	cpi fleet top --db "$url" --epoch 2026-01-01.. --by image --format json >mixed.json
	cpi fleet top --db "$url" --epoch 2026-01-01.. --by image --format json --host all >all.json
	cpi fleet top --db "$url" --epoch 2026-01-01.. --by image --format json --host part >one.json
	python3 - <<'END'
import json, math
mixed, whole, part = ({r["image"]: r for r in json.load(open(n))["rows"]} for n in ("mixed.json", "all.json", "one.json"))
image = max(mixed, key=lambda name: mixed[name]["samples"])
row, rows = mixed[image], (whole[image], part[image])
assert row["samples"] == sum(r["samples"] for r in rows) >= 500, (row, rows)
want = math.hypot(*(r["cpu_hours"] * r["error_percent"] for r in rows)) / row["cpu_hours"]
assert abs(row["error_percent"] / want - 1) < 0.05, (row, rows, want)
END
	ok $? "$1: errors of samples of different weights"
	is "$(python3 -c '
import json
print([json.load(open("mixed.json"))[k] for k in ("epochs", "epochs_of_sums", "epochs_thinned", "one_in")])')" '[4, 4, 2, 5]' \
		"$1: sums of all samples do not count as parts"
	for table in histogram edge stack window_set access_set rolled spread; do
		store_sql "SELECT '$table' FROM $table WHERE $(of part) LIMIT 1"
	done >others.out
	is "$(cat others.out)" '' "$1: nothing else is shipped"

	# The hour, or day, is not over.
	sqlite3 today.db 'UPDATE run SET state = 0'
	ship today today.db --sums 24h
	is "$(store_sql "SELECT count() FROM epoch WHERE name = 'today'")" 0 "$1: a sum to which more may come waits"
	sqlite3 today.db 'UPDATE run SET state = 1'
	ship today today.db --sums 24h
	is "$(store_sql "SELECT last_flush, one_in FROM epoch WHERE name = 'today'")" '2	1' "$1: it is shipped when the run has ended"

	# From whole epochs to sums, and back.
	sqlite3 known.db 'UPDATE epoch SET open = 1 WHERE id = 2'
	ship both known.db
	sqlite3 known.db 'UPDATE epoch SET open = 0 WHERE id = 2'
	ship both known.db --sums 1h
	is "$(store_sql "SELECT first_flush, last_flush, one_in FROM epoch WHERE name = 'both' ORDER BY at")" "1	1	0
2	2	1
1	1	0" "$1: with --sums the epochs that follow are sums"
	is "$(rows "$url" both)" "$(rows known.db)" "$1: and nothing counts twice"

	# A label in a sum that was shipped, and an hour that has the rest of the sum, and more.
	ship later part.db --sums 24h
	ship later whole.db --sums 24h
	like "$(cat ship.log)" 'flushes from 1 on are sent again' "$1: epochs that were changed after they had been sent are sent again"
	is "$(store_sql "SELECT sum(n) FROM profile WHERE counter = 0 AND context = 0 AND $(of later) AND (host, at, nr)
		NOT IN (SELECT host, at, nr FROM void)")" "$(sqlite3 whole.db 'SELECT sum(total) FROM profile WHERE kind = 0 AND context = 0')" \
		"$1: nothing counts twice"
	is "$(store_sql "SELECT count() FROM epoch WHERE name = 'later' AND label = 'mid'")" 1 "$1: the label is there"

	# A damaged profile costs its epoch, not the sum.
	ship bad damaged.db --sums 24h
	like "$(cat ship.log)" 'epoch 2 is damaged and not shipped' "$1: an epoch with a damaged profile is left out"
	is "$(store_sql "SELECT first_flush, last_flush, received, stored, lost FROM epoch WHERE name = 'bad'")" \
		"$(sqlite3 -separator '	' damaged.db 'SELECT 1, 2, received, stored, lost FROM flush WHERE epoch = 1')" \
		"$1: the sum has the others"
	is "$(store_sql "SELECT sum(n) FROM profile WHERE counter = 0 AND $(of bad)")" \
		"$(sqlite3 damaged.db 'SELECT sum(total) FROM profile WHERE epoch = 1 AND kind = 0 AND context = 0')" \
		"$1: with their samples"
	is "$(store_sql "SELECT sum(last_flush - first_flush + 1) FROM dropped")" 1 "$1: and its flush is in table dropped"
	cp damaged.db worse.db
	sqlite3 worse.db "UPDATE profile SET counts = x'ffffffffff'" || bail 'worse.db'
	ship worse worse.db --sums 24h
	is "$(store_sql "SELECT count() FROM epoch WHERE name = 'worse'"), $(store_sql "SELECT sum(last_flush - first_flush + 1)
		FROM dropped WHERE host IN (SELECT number FROM host WHERE name = 'worse')")" '0, 2' "$1: if all are damaged, none is shipped"

	# A budget of bytes: each sum has its own part.
	ship small known.db --sums 1h --budget 100,1K
	is "$(store_sql "SELECT first_flush, last_flush, received, stored, lost, one_in FROM epoch WHERE name = 'small' ORDER BY at")" \
		"1	2	2116	2107	9	7
1	1	100	100	0	1" "$1: a budget chooses a part for each sum"
	is "$(store_sql "SELECT DISTINCT mean_period FROM stream WHERE event = 'cpu-clock' AND id IN (SELECT stream FROM
		profile WHERE $(of small)) ORDER BY mean_period")" \
		"$(sqlite3 known.db "SELECT DISTINCT n * mean_period FROM stream s JOIN profile p ON p.stream = s.id,
			(SELECT 1 AS n UNION SELECT 7) WHERE event = 'cpu-clock' AND (n = 7) = (p.epoch < 3) ORDER BY 1")" \
		"$1: each has streams of its own weight"
	kept=$(store_sql "SELECT sum(n) FROM profile WHERE counter = 0 AND $(of small)")
	ok "$([ "$kept" -gt 310 ] && [ "$kept" -lt 492 ]; echo $?)" "$1: a seventh of the large one is kept ($kept of 2107 + 100)"
	is "$(store_sql "SELECT sum(received) - sum(stored), sum(stored) FROM tally WHERE $(of small)")" \
		"$(store_sql "SELECT sum(n) FROM loss WHERE $(of small)")	$kept" "$1: received = stored + losses in the streams"
	cpi prof --db "$url" --epoch all --host small --format json >small.json 2>report.err
	like "$(cat report.err)" '2 of 2 epochs are sums of one in up to 7 samples' "$1: a report says it"
	python3 - <<'END'
import json
def time(name):
    return sum(r["time_ns"] for r in json.load(open(name))["rows"])
part, whole = time("small.json"), time("whole.json")
assert abs(part / whole - 1) < 0.3, (part, whole)
END
	ok $? "$1: the report has the whole time, within the error"

	# What has just ended when the process begins: an ended run of two epochs.
	cp today.db fresh.db
	now=$(date +%s)
	sqlite3 fresh.db "UPDATE run SET from_ns = ($now - 90) * 1000000000, state = 1;
		UPDATE epoch SET from_ns = ($now - 150 + 60 * id) * 1000000000, to_ns = ($now - 90 + 60 * id) * 1000000000;
		UPDATE flush SET from_ns = ($now - 150 + 60 * seq) * 1000000000, to_ns = ($now - 90 + 60 * seq) * 1000000000" ||
		bail 'fresh.db'
	ship fresh fresh.db --budget 100,450K
	is "$(store_sql "SELECT last_flush, one_in FROM epoch WHERE name = 'fresh' ORDER BY last_flush")" "1	0
2	0" "$1: the first epochs of a process have all that they had"
	is "$(rows "$url" fresh)" "$(rows fresh.db)" "$1: so a report of them has all of it"
	ship short fresh.db --budget 100,10K
	is "$(store_sql "SELECT min(one_in) > 0 FROM epoch WHERE name = 'short'")" 1 "$1: but not beyond half of the budget"

	# The last hour of a day that is over: an earlier process sent the others.
	ship day early.db --sums 1h --budget 100,125K
	ship day day.db --sums 1h --budget 100,125K
	bound "$(store_sql "SELECT one_in FROM epoch WHERE name = 'day' AND last_flush = 21")" '>=' 10 \
		"$1: a process knows what was sent of a day that is over"
}

each_store one_engine
