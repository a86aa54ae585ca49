#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi values shows values of operands with known shares, if they were recorded; a key is
# not in the database.
#
# Statistic: as in t/0349-cli-values.t.
. "$srcdir/t/tap.sh"
. "$srcdir/t/recorded.sh"

need_windows
compile_program operands -O1 -fno-tree-vectorize
key=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')

# look EXPRESSION: its value, with the names of t/operands_look.py.
look()
{
	python3 "$srcdir/t/operands_look.py" values.json "$1"
}

# windows PROC KIND: how many windows saw the operand of that kind that most windows saw
windows()
{
	cpi values --db t.db --format=json "operands:$1" >values.json 2>err || echo '{"operands": []}' >values.json
	look "max([0] + [o['windows'] for o in of('$2')])"
}

# A machine that is too busy to translate code has few windows: once more then.
for ms in 2500 2500 5000; do
	rm -f t.db
	record_windows t.db --values -- ./operands $ms "$key"
	nr=$(windows operands divisor) nr_secret=$(windows secret divisor)
	[ "$nr" -lt 200 ] || [ "$nr_secret" -lt 20 ] || break
done
nr_calls=$(windows calls size)
[ "$nr" -ge 200 ] || skip_all "too few windows here: $nr of 200"
[ "$nr_secret" -ge 20 ] || skip_all "too few windows of the key here: $nr_secret of 20"
[ "$nr_calls" -ge 100 ] || skip_all "too few windows of calls here: $nr_calls of 100"
plan 27

cpi values --db t.db --format=json operands:operands >values.json 2>err
is $? 0 'cpi values succeeds'

# top KIND VALUE: whether it is the most frequent value, with a share of 3 in 4
top()
{
	is "$(look "top('$1')[0] == $2 and abs(top('$1')[1] - 0.75) < 0.12 or top('$1')")" True \
		"the most frequent value of $1 is $2, in three of four executions"
}
top divisor 10
top shift 3
top multiplicand 7
is "$(look 'top("size")[0] == 24 and abs(top("size")[1] - 13 / 16) < 0.12 or top("size")')" True \
	'the most frequent size of the copy is 24'
is "$(look 'top("dividend_bits")[0]')" 20 'dividends have 20 bits'
is "$(look 'max([0] + [v["share"] for o in of("multiplier") for v in o["values"]]) < 0.1')" True \
	'a factor that always differs has no frequent value'
is "$(look 'max(o["same"]["share"] for o in of("loaded")) > 0.9')" True 'the load of a constant returns the same'
is "$(look 'sum(len(o["values"]) for o in of("loaded"))')" 0 'no value of a load is there'
is "$(look 'all(sum(o["classes"].values()) == o["executions"] for o in r["operands"])')" True \
	'each execution has a class'
is "$(look 'all(v["windows"] >= 4 and v["share_low"] <= v["share"] <= v["share_high"]
	for o in r["operands"] for v in o["values"])')" True 'each value was seen in 4 windows'
if [ "$(look 'max([0] + [o["stall_share"] or 0 for o in of("divisor")]) >= 0.01')" = True ]; then
	is "$(look 'any("divisor is 10" in (o["suggestion"] or "") for o in of("divisor"))')" True \
		'the suggestion is a test for 10'
else
	skip 1 'no samples show stalls of the division'
fi

cpi calc --db t.db --format=json operands:operands >calc.json
is "$(python3 -c 'import json; print(sorted(v["value"] for o in json.load(open("calc.json"))["operands"]
	if o["kind"] == "divisor" for v in o["values"])[0])')" 10 'JSON of cpi calc has the divisor'

cpi values --db t.db --format=csv operands:operands >csv
like "$(grep ^divisor csv)" ',10,' 'CSV has the divisor'
cpi values --db t.db operands:operands >text
like "$(cat text)" '%  *[0-9]*  10
' 'the text has the divisor'
is "$(awk 'length > 80 && !/0x/' text)" '' 'lines of the text without an instruction have at most 80 characters'

cpi values --db t.db --format=json operands:secret >values.json 2>err
is $? 0 'what uses the key has operands'
is "$(look '[o["values"] for o in of("divisor")]')" '[[]]' 'a key that is the divisor is no value'
"$builddir/t/find_key" t.db "$key" >found
is "$? $(cat found)" '0 ' 'the key is nowhere in the database'
like "$("$builddir/t/find_key" t.db 9b1d3f57c2e4a683)" capture 'a number of the program'"'"'s code is found'

is "$(look 'of("size") + of("alignment")')" '[]' 'a third argument that is no size is not there'

cpi values --db t.db --format=json operands:calls >values.json 2>err
is "$(look 'top("size")[0] == 40 and abs(top("size")[1] - 0.75) < 0.12 or top("size")')" True \
	'the most frequent size that is passed to memcpy is 40'
is "$(look '"call" in of("size")[0]["text"] or of("size")')" True 'it belongs to the call'
is "$(look '[top("alignment"), top("second_alignment")]')" '[(8, 1), (4, 1)]' \
	'the addresses that are passed are multiples of 8 and 4'
cpi values --db t.db operands:calls >text
like "$(cat text)" 'bytes, an argument' 'the text has the size'

cpi record -w 499 -o none.db -- ./operands 500 "$key" 2>err || bail "$(cat err)"
cpi values --db none.db --format=json operands:operands >values.json 2>err
is "$(look 'r["operands"]')" '[]' 'without --values there are no operands'
"$builddir/t/find_key" none.db "$key" >found
is "$? $(cat found)" '0 ' 'and no key'
