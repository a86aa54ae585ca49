#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi diff finds the same change in two weeks of hours and in the same weeks rolled up to
# days.
. "$srcdir/t/tap.sh"

CPI_DB=$tmp/weeks.db
export CPI_DB

need python3
# Two weeks of hours whose load follows the time of day. Each procedure varies by 2%
# from hour to hour beyond sampling, wild by 20%; of the second week, p3 has 4% more.
cat >draw.py <<'END'
import math, random
random.seed(7)
procedures = {f"p{i}": 20000 * 0.8 ** i for i in range(24)} | {"wild": 1000}
for hour in range(21 + 13 * 24):
    load = 1 + 0.6 * math.sin((hour + 3) * math.pi / 12)
    words = []
    for name, rate in procedures.items():
        mean = rate * load * math.exp(random.gauss(0, 0.2 if name == "wild" else 0.02))
        if name == "p3" and hour >= 21 + 6 * 24:
            mean *= 1.04
        words.append(f"{name}={round(random.gauss(mean, math.sqrt(mean)))}")
    print("-", 3600, 1000, *words)
END
python3 draw.py | "$builddir/t/runsdb" "$CPI_DB" || bail "no database"
first=2026-01-02..2026-01-08
second=2026-01-09..2026-01-15

cat >compare.py <<'END'
"""What is made of the rows before and after: verdicts, and how far intervals differ."""
import json, sys
before, after = (json.load(open(name)) for name in sys.argv[1:])
rows = {r["procedure"]: r for r in after["rows"]}
off = width = differ = 0
for a in before["rows"]:
    b, half = rows[a["procedure"]], (a["high_percent"] - a["low_percent"]) / 2
    if a["q"] is None:
        continue
    # A row whose q is near the rate may be a finding in one of them by chance.
    differ += a["found"] != b["found"] and not 0.5 < a["q"] / b["q"] < 2
    off = max(off, abs(a["change_percent"] - b["change_percent"]) / half)
    width = max(width, abs((b["high_percent"] - b["low_percent"]) / 2 / half - 1))
print(f"# {before['tested']} and {after['tested']} tested, centres differ by "
      f"{off:.2f} of the interval, widths by {100 * width:.0f}%")
print("alike" if not differ and off < 0.5 and width < 0.4 and
      before["tested"] == after["tested"] and before["basis"] == after["basis"]
      else "other")
END

ask()
{
	cpi diff --format=json "$first" "$second" >weeks.$1 &&
		cpi diff --format=json 2026-01-05 2026-01-12 >days.$1 &&
		cpi diff --format=json --history="$first" 2026-01-12T05 2026-01-13T05 >hours.$1
}
found()
{
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["basis"], *(r["procedure"] for r in d["rows"] if r["found"]))' "$1"
}

plan 15

ask before
is "$?" 0 "cpi diff compares two weeks of hours"
is "$(found weeks.before)" "runs p3" "the procedure that changed is found among hours"
cp "$CPI_DB" rolled.db
CPI_DB=$tmp/rolled.db
before=$(cpi epoch list)
cpi epoch roll --host=nobody 2>err
like "$? $(cat err)" "^2 .*roll takes all days" "cpi epoch roll --host is a usage error"
is "$(cpi epoch list)" "$before" "a refused roll changes nothing"
cpi epoch roll >/dev/null 2>err
is "$?" 0 "cpi epoch roll rolls hours up"
# The last day ends with the run, so it is rolled up as well.
is "$(cpi epoch list --format=csv | sed 1d | wc -l)" 14 "the hours become days"
ask after
is "$?" 0 "cpi diff compares the same weeks as days"
is "$(found weeks.after)" "runs p3" "the procedure that changed is found among days"
for what in weeks days; do
	python3 compare.py $what.before $what.after >out
	grep '^#' out
	is "$(tail -n 1 out)" alike "$what: verdicts stay the same, and intervals stay close"
done
is "$(python3 -c 'import json
for when in "before", "after":
    d = json.load(open("days." + when))
    print(len(d["a"]["epochs"]), d["a"]["parts"], d["basis"], d["earlier_epochs"])')" \
	"$(printf '%s\n' '24 24 runs 0' '1 24 runs 0')" "a day alone stands for 24 hours"
like "$(cpi diff 2026-01-05 2026-01-12)" '1 epoch, rolled up from 24, 86400.0 s' \
	"the text says how many hours were rolled up"
is "$(found hours.before | cut -d' ' -f1) $(cpi diff --history="$first" --format=json \
	2026-01-12 2026-01-13 >x && found x | cut -d' ' -f1)" "history runs" \
		"--history takes hours and days"
is "$(cpi diff --by image 2026-01-05 2026-01-12 --format=json --history=none |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["basis"])')" sampling \
	"days compared by image have the sampling error alone"
# Ids are 24 apart, so ids alone would reach back eight days.
is "$(cpi diff --by image 2026-01-14 2026-01-15 --format=json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["basis"], d["earlier_epochs"])')" 'history 12' 'all twelve days before show how much days vary'
