#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi prof --over-time: the intervals of a row add up to its total.
. "$srcdir/t/tap.sh"
need python3
plan 8

"$builddir/t/mkyear" t.db 100 30 300 3 >made || bail 'no database'
cpi prof --db t.db --epoch 1..5 --over-time --format json >five.json 2>/dev/null
is $? 0 '--over-time: each of a few epochs has an interval'
cpi prof --db t.db --epoch all --over-time --format json >all.json 2>/dev/null
is $? 0 '--over-time: many epochs share intervals'
cat >check.py <<'END'
import json, sys
p = json.load(open(sys.argv[1]))
assert len(p["intervals"]) == int(sys.argv[2]), len(p["intervals"])
hours = sum(i["seconds"] for i in p["intervals"]) / 3600
assert hours == int(sys.argv[3]), hours
assert p["rows"]
for r in p["rows"]:
    t = sum(v * i["seconds"] for v, i in zip(r["over_time"], p["intervals"]))
    assert abs(t - r["time_ns"] / 1e9) < 3600 * hours * 1e-6, (t, r)
END
try 'the intervals of five hours add up to the rows' python3 check.py five.json 5 5
try 'the intervals of a hundred hours add up to the rows' python3 check.py all.json 48 100
cpi prof --db t.db --epoch all --over-time --svg t.svg --limit 1 >text 2>/dev/null
is "$(grep -o '[▁▂▃▄▅▆▇█]*' text | awk 'length > 10' | wc -l)" 1 \
	'the text has a line of blocks for the row'
try 'the picture is XML with axes and lines' python3 - <<'END'
import xml.etree.ElementTree as e
r = e.parse("t.svg").getroot()
tags = [c.tag.split("}")[1] for c in r]
assert tags.count("path") > 15 and "CPUs" in [c.text for c in r], tags
END
cpi prof --db t.db --svg /nonexistent/t.svg >out 2>error
is $? 1 'an output path that cannot be written is an error'
cpi prof --db t.db --over-time --combine >out 2>error
is $? 2 '--over-time with --combine is a usage error'
