#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Weights of a program whose binary is available: --attribution selects who is charged
# with the time.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need_decoder
python3 -c 'import sqlite3' 2>/dev/null || skip_all 'no sqlite3 for python3'
plan 13

# The samples of a procedure, before it gets weights.
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
END
python3 weights.py
is $? 0 'weights are added to a profile'
cpi cat --check >/dev/null
is $? 0 'every profile with weights decodes'

# calc ATTRIBUTION...: the attribution used, the sum of all, the first, the last.
calc()
{
	cpi calc --epoch full --format=json "$@" target_hot | python3 -c '
import json, sys
r = json.load(sys.stdin)
i = [i["blamed_samples"] for b in r["blocks"] for i in b["instructions"]]
print(r["attribution"], round(sum(i), 3), i[0], i[-1])'
}
is "$(calc --attribution=tip)" 'tip 12.5 10.0 2.5' 'cpi calc --attribution=tip goes by weights'
is "$(calc)" 'tip 12.5 10.0 2.5' 'cpi calc goes by weights without the option'
is "$(calc --attribution=raw)" "$(python3 -c '
import json
r = json.load(open("before.json"))
i = [i["samples"]["cpu-clock"] for b in r["blocks"] for i in b["instructions"]]
print("raw", float(sum(i)), float(i[0]), float(i[-1]))')" 'cpi calc --attribution=raw goes by samples'
cpi calc --epoch full --attribution=precise target_hot >out 2>err
like "$(cat err)" 'precise: the selected epochs do not have it: they have tip, raw$' \
	'the error of --attribution=precise lists what there is'
is "$(cpi prof --epoch full --attribution=tip --format=json | python3 -c '
import json, sys
for r in json.load(sys.stdin)["rows"]:
    if r["procedure"] == "target_hot":
        print(r["time_ns"] / 1e6, r["percent"])')" '12.5 71.4286' \
	'cpi prof has the time of weights in its percentages'
is "$(cpi sum --epoch full --format=json target_hot | python3 -c '
import json, sys
s = json.load(sys.stdin)["cycle_stack"]
print(s["execution"], s["alu_stall"] + s["load_stall"] + s["store_stall"], sum(s.values()))')" \
	'10.0 2.5 12.5' 'cpi sum has the cycle stack of a procedure'
is "$(cpi sum --epoch full --format=json --attribution=raw | python3 -c '
import json, sys
print(json.load(sys.stdin)["cycle_stack"])')" None 'cpi sum --attribution=raw has no cycle stack'

# A trace of the program itself: two instructions of target_hot, and one at an address
# that is not the program's.
cpi calc --epoch full --format=csv target_hot >before.csv
python3 - >o3 <<'END'
import csv
rows = list(csv.DictReader(open("before.csv")))
n = 0
for at in rows[0]["address"], rows[-1]["address"], "0x7fff0000":
    n += 1
    print(f"O3PipeView:fetch:{n * 500}:{at}:0:{n}: nop")
    for stage in "decode", "rename", "dispatch", "issue", "complete":
        print(f"O3PipeView:{stage}:{n * 500}")
    print(f"O3PipeView:retire:{n * 500 + 5000 * n}:store:0")
END
cpi tip --records=o3.tip o3 >/dev/null && cpi record --replay=o3.tip --program=target -o o3.db 2>err
is $? 0 'records of a program with a binary are stored'
cpi calc --db o3.db --format=json target_hot >calc.json
is "$(python3 -c '
import json
r = json.load(open("calc.json"))
i = [i for b in r["blocks"] for i in b["instructions"]]
print(r["attribution"], i[0]["blamed_samples"], i[-1]["blamed_samples"], len(i) > 4)')" \
	'tip 1.0 11.0 True' 'cpi calc has the blocks of the binary'
is "$(cpi prof --db o3.db --format=json | python3 -c '
import json, sys
print(json.load(sys.stdin)["unknown"])')" "{'no_mapping': 11}" 'records of other addresses are no_mapping'
cpi record --program=target true 2>err
is $? 2 '--program without --replay is a usage error'
