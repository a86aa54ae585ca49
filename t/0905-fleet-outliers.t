#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Machines that differ from their peers: the planted ones are found, and no others.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need python3 sqlite3 curl

plan $((3 + $(store_tests 16)))

nowhere=clickhouse://127.0.0.1:1/cpi
bad 'status 2: .*--measure=ipc: say one of' 'an unknown measure is refused' \
	cpi fleet outliers --db $nowhere --measure ipc
bad 'status 2: .*--by procedure or image' '--by host is refused' cpi fleet outliers --db $nowhere --by host
bad 'status 2: .*--fdr' 'a negative false discovery rate is refused' cpi fleet outliers --db $nowhere --fdr -1

# host N: counts of a machine, "samples,ticks" of each procedure, 5 % beside its peers'.
# Number 7 spends twice the time in beta; number 3 needs 1.6 times the cycles in gamma.
host()
{
	python3 -c '
import random, sys
n = int(sys.argv[1])
r = random.Random(n)
words = []
for name, rate in ("alpha", 3000), ("beta", 1500), ("gamma", 800), ("delta", 400), ("rare", 4):
    mean = rate * r.lognormvariate(0, 0.05)
    if n == 7 and name == "beta":
        mean *= 2
    cycles = mean * r.lognormvariate(0, 0.02) * (1.6 if n == 3 and name == "gamma" else 1)
    samples = max(round(r.gauss(cycles, cycles ** 0.5)), 0)
    words.append("/app:%s=%d,%d" % (name, samples, max(round(r.gauss(mean, mean ** 0.5)), 0)))
print("- 60 1000", *words)' "$1"
}

for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	host $n | "$builddir/t/runsdb" h$n.db || bail 'runsdb failed'
	sqlite3 h$n.db "UPDATE platform SET host = 'h$n'" || bail 'no host'
	cp h$n.db c$n.db
	sqlite3 c$n.db "UPDATE stream SET event = 'cycles', unit = 'cycles' WHERE event = 'cpu-clock';
		UPDATE stream SET event = 'instructions', unit = 'events' WHERE event = 'ticks'" || bail 'no events'
done

# ship LETTER CLUSTER N...: machines of a cluster
ship()
{
	ship_letter=$1 ship_cluster=$2
	shift 2
	for n; do
		cpi-ship --store "$url" --budget 100 --rate 0 --once --cluster "$ship_cluster" --machine m \
			--db $ship_letter$n.db 2>>ship.log || bail "nothing was shipped: $(cat ship.log)"
	done
}

# member NAME ARGS...: a member of the answer
member()
{
	member_name=$1
	shift
	cpi fleet outliers --db "$url" --format json "$@" 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$member_name"
}

# one_engine NAME: 16 tests
one_engine()
{
	url=clickhouse://127.0.0.1:$store_port/shares
	cpi fleet init --db "$url" >/dev/null || bail 'no store'
	bad 'status 1: .*no such epoch' "$1: an empty store is an error" cpi fleet outliers --db "$url"
	ship h web 1 2 3 4
	like "$(cpi fleet outliers --db "$url")" '4 of 4 machines are not tested: they have fewer than 4 peers' \
		"$1: machines with fewer than 4 peers are not tested, and a line says so"
	ship h web 5 6 7 8 9 10 11 12
	# beta of 7 is twice, gamma of 3 1.6 times that of others.
	is "$(cpi fleet outliers --db "$url" --format csv | cut -d, -f1,8 | sort)" 'h3,gamma
h7,beta
host,procedure' "$1: exactly the machines with planted differences are found"
	cpi fleet outliers --db "$url" --host 'h[124567890]*' --format csv >out
	like "$(sed -n 2p out | awk -F, '{ printf "%s %s %.0f", $1, $8, $4 / 10 }')" '^h7 beta [89]$' \
		"$1: the difference has the planted size, and the machine's other rows are not findings"
	like "$(cpi fleet outliers --db "$url")" 'h7 .*+[0-9]*[.][0-9]%.*beta' "$1: text shows the same difference"
	like "$(cpi fleet outliers --db "$url")" '2 of 48 values' "$1: rows with few samples are not tested"
	is "$(member found --fdr 1e-8)" 0 "$1: --fdr changes the number of findings"
	is "$(member tested --by image)" 12 "$1: --by image compares images"
	is "$(member found --by image)" 0 "$1: a single image cannot be compared"
	bad 'status 1: .*cycles: not among' "$1: CPI needs cycles and instructions" \
		cpi fleet outliers --db "$url" --measure cpi

	# The same machines, with cycles and instructions; some of another cluster.
	url=clickhouse://127.0.0.1:$store_port/cycles
	cpi fleet init --db "$url" >/dev/null || bail 'no store'
	ship c web 1 2 3 4 5 6 7 8 9
	ship c db 10 11 12
	is "$(cpi fleet outliers --db "$url" --measure cpi --format csv | cut -d, -f1,6,8)" 'host,cluster,procedure
h3,web,gamma' "$1: the machine whose CPI differs is found"
	is "$(member machines_not_tested --measure cpi)" 3 "$1: a machine is compared only with its own cluster"
	is "$(cpi fleet outliers --db "$url" --measure cpi --format json | python3 -c '
import json, sys
r = json.load(sys.stdin)["rows"][0]
print(1.4 < r["cpi"] / r["peers_cpi"] < 1.8)')" True "$1: the row has the CPI of the machine and of its peers"

	# Of each machine: cycles over instructions of its own database.
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		sqlite3 c$n.db "SELECT 'h$n', sum((event = 'cycles') * stored * mean_period) * 1.0 /
			sum((event = 'instructions') * stored * mean_period) FROM tally JOIN stream ON stream.id = tally.stream"
	done | LC_ALL=C sort >cpi.want
	cpi fleet top --db "$url" --by host --cpi --format json 2>/dev/null >cpi.out
	is "$(python3 -c '
import json
want = dict(line.split("|") for line in open("cpi.want"))
rows = {r["host"]: r for r in json.load(open("cpi.out"))["rows"]}
print(sorted(rows) == sorted(want), all(abs(rows[h]["cpi"] / float(want[h]) - 1) < 1e-9 and
    0.8 < rows[h]["cpi_low"] / rows[h]["cpi"] < 1 < rows[h]["cpi_high"] / rows[h]["cpi"] < 1.2 for h in want))')" \
		'True True' "$1: cpi fleet top --cpi has the CPI of each machine, with an interval"
	like "$(cpi fleet top --db "$url" --by image --cpi)" 'CPI *low *high *image' "$1: so has its text"
	url=clickhouse://127.0.0.1:$store_port/shares
	is "$(cpi fleet top --db "$url" --by cluster --cpi --format csv | cut -d, -f7-9 | uniq)" 'cpi,cpi_low,cpi_high
,,' "$1: without cycles and instructions CPI is unknown"
}

each_store one_engine
