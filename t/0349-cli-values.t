#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi values shows targets, iterations and alignments, which have known shares.
#
# Statistic: the windows are drawn by CPU time, several hundred of them. With 300 a share of
# 0.75 has a sigma of 0.025; the bound of 0.12 has room for the error of the weights, too.
. "$srcdir/t/tap.sh"
. "$srcdir/t/recorded.sh"

need_windows
compile_program values -O1 -fno-unroll-loops -fno-tree-vectorize
record_windows t.db -- ./values 2500
plan 21

cpi values --db t.db --format=json values:values >values.json 2>err
is $? 0 'cpi values succeeds'

# look EXPRESSION: its value, with the names of t/values_look.py.
look()
{
	python3 "$srcdir/t/values_look.py" values.c values.json "$1"
}

is "$(look 'len(call), len(r["targets"]), len(loops), len(store)')" '(1, 1, 1, 1)' \
	'there are one indirect call, one inner loop and one store of data'
is "$(look 'sorted(v["procedure"] for v in call[0]["values"])')" "['few', 'most', 'some']" \
	'the call has three targets'
is "$(look 'call[0]["values_seen"]')" 3 'their number is known'
is "$(look '{v["image"] == r["image"] for v in call[0]["values"]}')" '{True}' 'all targets are of the same image'
is "$(look 'call[0]["values"][0]["procedure"]')" most 'the most frequent target comes first'
is "$(look 'near(share(call[0], "procedure", "most"), 0.75)')" 1 'three of four calls go there'
is "$(look 'near(share(call[0], "procedure", "some"), 0.125)')" 1 'one of eight calls goes to another one'
is "$(look 'sorted(v["iterations"] for v in loops[0]["values"])')" '[3, 6]' 'the loop has 3 or 6 iterations'
is "$(look 'near(share(loops[0], "iterations", 3), 0.75)')" 1 'three of four runs have 3 iterations'
is "$(look 'near(share(loops[0], "iterations", 6), 0.25)')" 1 'the longer runs are not lost'
is "$(look 'all(0 <= v["share_low"] <= v["share"] <= v["share_high"] <= 1 and
	0 < v["windows"] <= v["seen"] for v in every)')" True 'each share is within its interval'
is "$(look 'max(abs(sum(v["share"] for v in s["values"]) + s["unknown"] - 1)
	for s in r["targets"] + loops) < 1e-6')" True 'shares and what is unknown make up the whole'
is "$(look 'store[0]["always"], store[0]["bytes"]')" '(4, 8)' 'the store of 8 bytes is always aligned to 4'
is "$(look 'near(store[0]["aligned"]["share"], 0.6)')" 1 'three of five stores are aligned to 8'
is "$(look 'sum(store[0]["zero_bits"]) == store[0]["executions"]')" True 'each store has an alignment'

cpi values --db t.db --format=csv --limit 1 values:values >csv
is "$(grep -c ^target csv) $(grep -c ^iterations csv)" '1 1' 'CSV has values up to the limit'
like "$(cpi values --db t.db values:values)" '^ *[0-9.]*%  *[0-9.]*%  *[0-9.]*%  *[0-9]*  3 iterations' \
	'the text has shares and values'

cpi export --db t.db --image '*/values' --format=llvm-sample -o values.prof 2>err || sed 's,^,# ,' err
# The only line with targets of a call that is not direct: "10.2: 40 most:30 few:5 some:5".
grep 'most:[0-9]' values.prof | grep 'some:[0-9]' >targets
is "$(awk '{ for (i = 3; i <= NF; i++) { split($i, p, ":"); n[p[1]] += p[2]; all += p[2] }
	share = all ? n["most"] / all : 0; print (share > 0.63 && share < 0.87) ? 1 : share }' targets)" 1 \
	'the profile for LLVM has the targets of the call, three of four times the most frequent one'
if command -v llvm-profdata >/dev/null; then
	is "$(llvm-profdata show --sample values.prof 2>err | grep -c 'calls:.* most:[0-9]')" 1 \
		'llvm-profdata reads the targets'
else
	skip 1 'no llvm-profdata'
fi

cpi record -w off -o none.db -- ./values 100 2>err || bail "$(cat err)"
cpi values --db none.db values:values >out 2>err
like "$? $(cat err)" '^1 .*cpi record -w' 'without windows the error says how to record them'
