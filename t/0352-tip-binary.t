#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Weights of a program whose binary is there: whose the time is by --attribution.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need_decoder
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no sqlite3 for python3'
plan 9

# Where a procedure's samples are, and a load or store and another instruction in it.
cpi calc --epoch full --format=json target_hot >before.json
cat >weights.py <<'END'
import json, sqlite3
r = json.load(open("before.json"))
insns = [i for b in r["blocks"] for i in b["instructions"]]
first, last = int(insns[0]["offset"], 16), int(insns[-1]["offset"], 16)
def number(v):
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7f | 0x80])
        v >>= 7
    return out + bytes([v])
# 10 samples of execution at the first, 2.5 of stall at the last.
blob = b"\0" + number(1) + number(first) + number(8400)
blob += number(1) + number(last) + number(2100) + 4 * number(0)
db = sqlite3.connect("known.db")
key = db.execute("SELECT p.epoch, p.image, p.stream FROM profile p JOIN image i ON i.id = p.image"
    " JOIN epoch e ON e.id = p.epoch JOIN stream s ON s.id = p.stream WHERE e.label = 'full'"
    " AND p.context = 0 AND p.kind = 0 AND i.name LIKE '%/target' AND s.event = 'cpu-clock'").fetchone()
db.execute("INSERT INTO profile VALUES (?, ?, ?, 0, 2, 10500, ?)", (*key, blob))
db.commit()
print(hex(first), hex(last))
END
python3 weights.py >places
is $? 0 'a profile gets weights'
cpi cat --check >/dev/null
is $? 0 'which decode'

# calc ATTRIBUTION...: what it says it went by, the sum of all, the first, the last.
calc()
{
	cpi calc --epoch full --format=json "$@" target_hot | python3 -c '
import json, sys
r = json.load(sys.stdin)
i = [i["blamed_samples"] for b in r["blocks"] for i in b["instructions"]]
print(r["attribution"], round(sum(i), 3), i[0], i[-1])'
}
is "$(calc --attribution=tip)" 'tip 12.5 10.0 2.5' 'calc: whose weights say'
is "$(calc)" 'tip 12.5 10.0 2.5' 'without the option, too'
is "$(calc --attribution=raw)" "$(python3 -c '
import json
r = json.load(open("before.json"))
i = [i["samples"]["cpu-clock"] for b in r["blocks"] for i in b["instructions"]]
print("raw", float(sum(i)), float(i[0]), float(i[-1]))')" 'or where samples were taken'
cpi calc --epoch full --attribution=precise target_hot >out 2>err
like "$(cat err)" 'none of the selected events measures time' 'none of which is precise'
is "$(cpi prof --epoch full --attribution=tip --format=json | python3 -c '
import json, sys
for r in json.load(sys.stdin)["rows"]:
    if r["procedure"] == "target_hot":
        print(r["time_ns"] / 1e6, r["percent"])')" '12.5 71.4286' \
	'prof: their time, beside that of unknown images'
is "$(cpi sum --epoch full --format=json target_hot | python3 -c '
import json, sys
s = json.load(sys.stdin)["cycle_stack"]
print(s["execution"], s["alu_stall"] + s["load_stall"] + s["store_stall"], sum(s.values()))')" \
	'10.0 2.5 12.5' 'sum: what it was spent on'
is "$(cpi sum --epoch full --format=json --attribution=raw | python3 -c '
import json, sys
print(json.load(sys.stdin)["cycle_stack"])')" None 'nothing of that, by counts'
