#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi calc on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need_decoder

plan 36

calc()
{
	cpi calc --epoch full "$@" 2>err
}

# Text.
calc target_hot >text
is "$?" 0 "a procedure by its name"
is "$(cat err)" "" "without complaints"
like "$(cat text)" "^Procedure target_hot in .*/target" "text says where it is"
like "$(cat text)" "sample of cpu-clock is worth 2000000 cycles at 2 GHz" \
	"and what a sample is worth"
like "$(cat text)" '^\*\*\* Total tallied  *100.0%' "the summary is there"
like "$(cat text)" '^\*\*\* Block 0x[0-9a-f]*: .* executions (shape [a-z]*, scale low)' \
	"each block has its frequency"
like "$(cat text)" '^\*\*\* Best-case [0-9.]*/[0-9]* = [0-9.]* CPI' "what it takes at best"
like "$(cat text)" '^\*\*\* Actual  *[0-9.]*/[0-9]* = [0-9.]* CPI' "and what it took"
like "$(cat text)" '^    [a-zA-Z?]* \.\.\. [0-9.]*cy ([a-zA-Z?] = ' "stalls are bubbles"
like "$(cat text)" '  560  .*0x' "instructions have their samples"
is "$(awk 'length > 140' text)" "" "lines are short"
calc --asm target_hot >text
unlike "$(cat text)" "target.c" "assembly alone"
calc --color=always target_hot >text
like "$(cat text)" "$(printf '\033')\[1;31m *560 " "hot lines are coloured"

# CSV.
calc --format=csv target_hot >hot.csv
is "$(head -n 1 hot.csv)" "samples:cpu-clock,samples:page-faults,blamed_samples,cpi,block,\
frequency,shape,scale,min_cycles,static_cycles,dynamic_cycles,offset,address,text,reasons,\
culprit_addresses,file,line" "the titles of CSV"
is "$(awk -F, 'NR > 1 { n += $1; b += $3 } END { print n, b }' hot.csv)" "600 600" \
	"the samples add up, raw and blamed"
is "$(calc --format=csv target_cold | awk -F, 'NR > 1 { n += $2 } END { print n }')" 12 \
	"those of the other event, too"

# What cannot be asked for.
calc
is "$?" 2 "no procedure is a usage error"
calc --all
is "$?" 2 "all of them are for JSON"
calc target_hot --all --format=json
is "$?" 2 "one or all"
calc --event page-faults target_cold
is "$?" 1 "an event that measures no time explains nothing"
like "$(cat err)" "none of the selected events measures time: choose" "which is said"
calc --cpu=nosuch target_hot
is "$?" 1 "a CPU that is not known"
like "$(cat err)" "^cpi: error: --cpu=nosuch: there is no timing model" "is named"
calc --debug=freq,nosuch target_hot
like "$(cat err)" "debug=nosuch: say some of cfg,freq,blame" "so is a pass"
calc target_hop
like "$(cat err)" "did you mean 'target_hot'?" "a name that is nearly right"
calc do_syscall_64
is "$?" 1 "a procedure without code"
like "$(cat err)" "do_syscall_64: cannot be explained: the kernel's code" "says why"

calc --debug=cfg,blame target_hot >text
like "$(cat err)" "^cfg: block 0 0x" "--debug shows the graph"
unlike "$(cat err)" "^equiv:" "and only what was asked for"

if ! command -v python3 >/dev/null; then
	skip 7 "no python3 to read JSON with"
	exit 0
fi

cat >check.py <<'EOP'
"""The members of an object of calc, and what must hold of them."""
import json, sys

def check(r):
    assert list(r) == ["procedure", "image", "build_id", "frequency_unit",
                       "attribution", "blocks", "edges", "summary"], list(r)
    starts = {b["start"] for b in r["blocks"]}
    samples = blamed = 0
    for b in r["blocks"]:
        assert list(b) == ["start", "end", "frequency", "confidence", "best_case_cpi",
                           "actual_cpi", "instructions"], b
        assert set(b["confidence"]) == {"shape", "scale"}
        for i in b["instructions"]:
            assert list(i) == ["offset", "text", "samples", "blamed_samples",
                               "frequency", "cpi", "min_cycles", "stalls"], i
            assert int(b["start"], 16) <= int(i["offset"], 16) < int(b["end"], 16)
            samples += i["samples"]["cpu-clock"]
            blamed += i["blamed_samples"]
            for s in i["stalls"]:
                assert list(s) == ["kind", "cycles", "culprits"]
                assert s["kind"] in ("static", "dynamic") and s["cycles"] > 0
                assert s["culprits"]
                assert all(list(c) == ["reason", "offset"] for c in s["culprits"])
    for e in r["edges"]:
        assert list(e) == ["from", "to", "frequency", "confidence", "taken_samples",
                           "not_taken_samples"], e
        assert e["from"] in starts and (e["to"] is None or e["to"] in starts)
    s = r["summary"]
    parts = [x["samples"] for x in [*s["dynamic"].values(), *s["static"].values()]
             if isinstance(x, dict)]
    whole = sum(parts) + s["execution"] + s["error"] + sum(s["not_tallied"].values())
    assert abs(whole - s["samples"]) < 0.1, (whole, s)
    assert abs(samples - blamed) < 0.1
    return samples

for line in sys.stdin if sys.argv[1:] else [sys.stdin.read()]:
    r = json.loads(line)
    print(r["procedure"], check(r), r["frequency_unit"], r["attribution"])
EOP
is "$(calc --format=json target_hot | python3 check.py)" \
	"target_hot 600 executions after-group" "JSON has what it must have"
is "$(calc --all --format=json | python3 check.py lines | sort)" \
	"$(printf '%s\n' "target_cold 300 executions after-group" \
		"target_hot 600 executions after-group")" "one line for each procedure"
is "$(calc --all --format=json --image '[kernel]')" "" "but for those without code"
is "$(calc --all --format=json --epoch half --image target | python3 check.py lines | sort)" \
	"$(printf '%s\n' "target_cold 50 executions after-group" \
		"target_hot 50 executions after-group")" "of another epoch"
calc --format=json target_hot >hot.json
calc --asm target_hot >text
is "$(python3 -c '
import json
for b in json.load(open("hot.json"))["blocks"]:
    print("%.2f" % b["actual_cpi"])')" \
	"$(sed '1,/Total tallied/d' text | sed -n 's/^\*\*\* Actual .* = \([0-9.]*\) CPI/\1/p')" \
	"text agrees with JSON"
is "$(python3 -c '
import json
print(sum(e["taken_samples"] + e["not_taken_samples"]
          for e in json.load(open("hot.json"))["edges"]))')" 40 \
	"outcomes of the sampled branch are on its edges"

# The kernel's samples wait for interrupts.
calc --format=json ret_from_fork >fork.json
is "$(python3 -c '
import json
r = json.load(open("fork.json"))
print(r["summary"]["deferred"], {i["cpi"] for b in r["blocks"] for i in b["instructions"]})
')" "True {None}" "deferred code has no CPI"
