#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi paths shows the paths through a procedure, which are taken in known shares.
#
# Statistic: the windows that were seen on a path are drawn by CPU time, more than 1000 of
# them: a share of 0.75 has a sigma of at most 0.014, and the bound is 4 sigma (once in
# 15,000 runs) at 0.055. The shares that are printed are weighted by the time of what a
# window lacks; where a path takes more time than another they are off by up to 0.11, as
# was measured, and only that bound is held.
. "$srcdir/t/tap.sh"
. "$srcdir/t/recorded.sh"

need_windows
compile_program steps -O0
record_windows t.db -- ./steps 2500
plan 18

cpi paths --db t.db --format=json steps:step >paths.json 2>err
is $? 0 'cpi paths succeeds'

# look EXPRESSION: its value, with the names of t/paths_look.py.
look()
{
	python3 "$srcdir/t/paths_look.py" steps.c paths.json "$1"
}

is "$(look '[a["kind"] for a in r["anchors"]]')" "['entry', 'loop']" 'the procedure has an entry and a loop'
is "$(look 'len(main)')" 2 'the procedure is called from two places'
is "$(look 'all(c.startswith("main+") for c in main)')" True 'both places are in main'
is "$(look '{p["caller_image"] == r["image"] for p in entry}')" '{True}' 'all callers are of the same image'
is "$(look 'near(seen(entry, lambda p: p["caller"] == main[0]), 0.75, 0.055)')" 1 \
	'three of four calls come from one place'
is "$(look 'near(seen(entry, lambda p: p["marks"] == ["EIGHT"]), 0.125, 0.055)')" 1 \
	'one of eight calls takes the path for multiples of eight'
is "$(look 'near(share(entry, lambda p: p["caller"] == main[0]), 0.75, 0.2)')" 1 \
	'the weighted share of that place is near three of four'
is "$(look '{p["caller"] == main[1] for p in entry if "EIGHT" in p["marks"]}')" '{True}' \
	'all calls with multiples of eight come from the other place'
is "$(look 'near(seen(loop, lambda p: p["end"] == "exit"), 0.25, 0.055)')" 1 \
	'the loop is left in one of four rounds'
is "$(look 'near(seen(loop, lambda p: "LONGER" in p["marks"]), 0.1875, 0.055)')" 1 \
	'three of sixteen rounds take the longer path'
is "$(look 'len(paths)')" 6 'there are no other paths'
is "$(look 'all(a["unknown"] < 0.1 for a in r["anchors"])')" True 'less than a tenth of the paths are unknown'
is "$(look 'all(0 <= p["share_low"] <= p["share"] <= p["share_high"] <= 1 and
	0 < p["windows"] <= p["seen"] for p in paths)')" True 'each share is within its interval'

cpi paths --db t.db --format=csv --limit 2 steps:step >csv
is "$(sed 1d csv | cut -d, -f1,2,7,8)" "$(look '"\n".join("%s,%s,%d,%d" % (p["anchor"],
	p["end"], p["seen"], p["windows"]) for p in paths[:2])')" 'CSV has the same paths, up to the limit'
like "$(cpi paths --db t.db steps:step)" '^ *[0-9.]* *[0-9.]*% .* main+0x[0-9a-f]*  *0x[0-9a-f]* steps.c:[0-9]* > .* :[0-9]* > 0x' \
	'the text has callers, blocks and lines'

cpi record -w off -o none.db -- ./steps 100 2>err || bail "$(cat err)"
cpi paths --db none.db steps:step >out 2>err
is $? 1 'cpi paths fails without windows'
like "$(cat err)" 'cpi record -w' 'the error says how to record windows'
