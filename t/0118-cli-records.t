#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi records on a database whose every record is known (t/recordsdb.c).
. "$srcdir/t/tap.sh"
plan 19

cp "$builddir/t/target" "$tmp/target" || bail 'no target'
"$builddir/t/recordsdb" r.db "$tmp/target" || bail 'no database'
export CPI_DB=r.db

cpi records >text 2>err
is $? 0 'cpi records lists all instructions with records'
is "$(cat err)" '' 'cpi records writes no warnings'
like "$(cat text)" '^ *400  4e+05 +-10% .*25.0% (21-29) .* target_hot ' \
	'counts and shares have confidence intervals'
like "$(cat text)" '10.0% (6-17)  *0.0% (0-4)  .* target_cold ' \
	'an event that was never seen has a confidence interval'
like "$(cat text)" '204/204/204 ' 'latencies have three quantiles'
unlike "$(cat text)" 'LLC miss' 'an event that no record has gets no column'
like "$(cat text)" '^0x7f0000001000  *50  *50 .*target_hot' \
	'data addresses have lower and upper bounds'

cpi records target_cold --format=csv >csv
is $? 0 'cpi records lists one procedure'
is "$(grep -c target_hot, csv)" 0 'the listing of a procedure has no other procedures'
is "$(awk -F, '$3 == "mispredicted" { print $4, $5, $9 }' csv)" '100 10 0.1' \
	'the counts of an event add up all records of the procedure'
is "$(head -n 1 csv | cut -d, -f1-18)" "event,kind,name,known,seen,count,count_low,count_high,\
share,share_low,share_high,min,median,p99,max,data_address,at_least,at_most" \
	'the column titles of CSV'
cpi records --limit 1 --format=csv >csv
is "$(cut -d, -f21 csv | sort -u | grep -c target_)" 1 '--limit counts instructions'

if command -v python3 >/dev/null; then
	cpi records --format=json >json
	try 'JSON has the same records' python3 - <<'END'
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

# An exported epoch.
cpi epoch export part.db records >/dev/null
cpi records --db part.db --format=csv >copy.csv
cpi records --format=csv >csv
is "$(cat copy.csv)" "$(cat csv)" 'an exported epoch keeps its records'
cpi cat --check >/dev/null
is $? 0 'cpi cat --check finds no damage'

# No records.
cpi records --event cpu-clock >text 2>err
is $? 1 'an event without records is an error'
like "$(cat err)" 'no records of hardware in the selection: collect' \
	'the message says how to collect records'
cpi records nosuch >text 2>err
is $? 1 'an unknown procedure is an error'
cpi prof --format=csv >prof.csv 2>/dev/null
is "$(awk -F, 'NR > 1 { n += $1 } END { print n }' prof.csv)" 1040 \
	'records do not change the samples of cpi prof'
