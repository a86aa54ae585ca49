#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi records on a database whose every record is known (t/recordsdb.c).
. "$srcdir/t/tap.sh"
plan 19

cp "$builddir/t/target" "$tmp/target" || bail 'no target'
"$builddir/t/recordsdb" r.db "$tmp/target" || bail 'no database'
export CPI_DB=r.db

cpi records >text 2>err
is $? 0 'all instructions that have records'
is "$(cat err)" '' 'without complaints'
like "$(cat text)" '^ *400  4e+05 +-10% .*25.0% (21-29) .* target_hot ' \
	'counts and shares have their intervals'
like "$(cat text)" '10.0% (6-17)  *0.0% (0-4)  .* target_cold ' \
	'what never happened has one, too'
like "$(cat text)" '204/204/204 ' 'latencies have three quantiles'
unlike "$(cat text)" 'LLC miss' 'what no record tells of has no column'
like "$(cat text)" '^0x7f0000001000  *50  *50 .*target_hot' 'hot data has its bounds'

cpi records target_cold --format=csv >csv
is $? 0 'one procedure alone'
is "$(grep -c target_hot, csv)" 0 'has its own records only'
is "$(awk -F, '$3 == "mispredicted" { print $4, $5, $9 }' csv)" '100 10 0.1' \
	'both flushes are in it'
is "$(head -n 1 csv | cut -d, -f1-18)" "event,kind,name,known,seen,count,count_low,count_high,\
share,share_low,share_high,min,median,p99,max,data_address,at_least,at_most" 'the titles of CSV'
cpi records --limit 1 --format=csv >csv
is "$(cut -d, -f21 csv | sort -u | grep -c target_)" 1 'a limit is of instructions'

if command -v python3 >/dev/null; then
	cpi records --format=json >json
	try 'JSON has the same' python3 - <<'END'
import json
i = json.load(open("json"))["instructions"]
assert [x["procedure"] for x in i] == ["target_hot", "target_cold"]
miss = i[0]["events"]["l1d-miss"]
assert (miss["known"], miss["seen"], miss["count"], miss["share"]) == (400, 100, 1e5, .25)
assert miss["count_low"] < 1e5 - 1.8e4 and miss["count_high"] > 1e5 + 2e4
assert i[0]["latencies"]["memory"]["n"] == 100
assert sum(a["at_least"] for a in i[0]["data_addresses"]) == 100
assert i[1]["latencies"]["dispatch-to-retire"] == {
    "n": 100, "min": 5, "median": 9, "p99": 14, "max": 14}
END
else
	skip 1 'no python3 to read JSON'
fi

# A copy has all of it.
cpi epoch export part.db records >/dev/null
cpi records --db part.db --format=csv >copy.csv
cpi records --format=csv >csv
is "$(cat copy.csv)" "$(cat csv)" 'records go with an epoch that is exported'
cpi cat --check >/dev/null
is $? 0 'the database is what it should be'

# No records.
cpi records --event cpu-clock >text 2>err
is $? 1 'an event without records is an error'
like "$(cat err)" 'no records of hardware in the selection: collect' 'which says what to do'
cpi records nosuch >text 2>err
is $? 1 'so is a name that is none'
cpi prof --format=csv >prof.csv 2>/dev/null
is "$(awk -F, 'NR > 1 { n += $1 } END { print n }' prof.csv)" 1040 'time is what it was'
