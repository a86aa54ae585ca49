#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi calc on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need_decoder

plan 48

calc()
{
	cpi calc --epoch full "$@" 2>err
}

# Text.
calc target_hot >text
is "$?" 0 "cpi calc finds a procedure by its name"
is "$(cat err)" "" "cpi calc writes no warnings"
like "$(cat text)" "^Procedure target_hot in .*/target" "the text names the procedure and its image"
like "$(cat text)" '^Samples name the instruction after the slow one; it is corrected in "blamed"$' \
	"the text says where samples are moved"
like "$(calc -v target_hot)" "^Each sample of cpu-clock stands for 1 ms (2000000 cycles at 2 GHz)" \
	"with -v the text says what a sample stands for"
like "$(cat text)" '^\*\*\* Total tallied  *100.0%' "the text has the summary"
like "$(cat text)" '^\*\*\* Block 0x[0-9a-f]*: executions unknown (90 %: [0-9.e+]* to [0-9.e+]*)' \
	"a frequency that nothing ties is unknown, within its bounds"
like "$(cat text)" '^\*\*\* Best-case [0-9.]*/[0-9]* = [0-9.]* CPI' \
	"each block has its best-case CPI"
like "$(cat text)" '^\*\*\* Actual CPI is unknown (90 %: [0-9.]* to [0-9.]*)' \
	"the actual CPI of a block with unknown frequency is unknown, within its bounds"
unlike "$(cat text)" "Impossible" "no result is impossible"
like "$(cat text)" '^    [a-zA-Z?]* \.\.\. [0-9.]*\( to [0-9.]*\)\{0,1\}cy ([a-zA-Z?] = ' \
	"stalls are printed between instructions"
like "$(cat text)" '  560  .*0x' "instructions have their samples"
is "$(awk 'length > 140' text)" "" "no line is longer than 140 characters"
calc --asm target_hot >text
unlike "$(cat text)" "target.c" "--asm leaves the source out"
calc --color=always target_hot >text
like "$(cat text)" "$(printf '\033')\[1;31m *560 " "--color=always colours hot lines"

# CSV.
calc --format=csv target_hot >hot.csv
is "$(head -n 1 hot.csv)" "samples:cpu-clock,samples:page-faults,blamed_samples,cpi,block,\
frequency,shape,scale,min_cycles,static_cycles,dynamic_cycles,offset,address,text,reasons,\
culprit_addresses,file,line,frequency_low,frequency_high,cpi_low,cpi_high,\
dynamic_cycles_low,dynamic_cycles_high" "cpi calc: the column titles of CSV"
is "$(awk -F, 'NR > 1 { n += $1; b += $3 } END { print n, b }' hot.csv)" "600 600" \
	"raw and blamed samples add up in CSV"
is "$(calc --format=csv target_cold | awk -F, 'NR > 1 { n += $2 } END { print n }')" 12 \
	"the samples of the second event add up in CSV"

# What cannot be asked for.
calc
is "$?" 2 "cpi calc without a procedure is a usage error"
calc --all
is "$?" 2 "cpi calc --all without JSON is a usage error"
is "$(calc target_hot --all --format=json)" "$(calc target_hot --format=json)" \
	"cpi calc --all with a procedure is this procedure in JSON"
calc --event page-faults target_cold
is "$?" 1 "cpi calc fails if no event measures time"
like "$(cat err)" "none of the selected events measures time: choose" \
	"the message says to choose an event that measures time"
calc --cpu=nosuch target_hot
is "$?" 1 "an unknown CPU is an error"
like "$(cat err)" "^cpi: error: --cpu=nosuch: there is no timing model" \
	"the message names the unknown CPU"
calc --debug=freq,nosuch target_hot
like "$(cat err)" "debug=nosuch: say some of cfg,freq,blame" \
	"the message names the unknown pass of --debug"
calc target_hop
like "$(cat err)" "did you mean 'target_hot'?" "a misspelt procedure gets a suggestion"
calc do_syscall_64
is "$?" 1 "cpi calc fails on a procedure without code"
like "$(cat err)" "do_syscall_64: cannot be explained: the kernel's code" \
	"the message says that the kernel's code is missing"

calc --debug=cfg,blame target_hot >text
like "$(cat err)" "^cfg: block 0 0x" "--debug=cfg prints the graph"
unlike "$(cat err)" "^equiv:" "--debug prints only the passes that were named"

if ! command -v python3 >/dev/null; then
	skip 9 "no python3 to read JSON with"
	exit 0
fi

is "$(calc --format=json target_hot | python3 "$srcdir/t/calc_check.py")" \
	"target_hot 600 executions after-group" "JSON has the documented members, and they add up"
is "$(calc --all --format=json | python3 "$srcdir/t/calc_check.py" lines | sort)" \
	"$(printf '%s\n' "target_cold 300 executions after-group" \
		"target_hot 600 executions after-group")" "--all prints a line for each procedure"
is "$(calc --all --format=json --image '[kernel]')" "" "--all leaves out procedures without code"
is "$(calc --all --format=json --epoch half --image target | python3 "$srcdir/t/calc_check.py" lines | sort)" \
	"$(printf '%s\n' "target_cold 50 executions after-group" \
		"target_hot 50 executions after-group")" \
			"--all prints a line for each procedure of another epoch"
mv "$target" "$target.moved"
is "$(calc --all --format=json)" "" "--all prints nothing of an image that is gone"
like "$(cat err)" "^cpi: warning: procedures of 3 images are missing, which could not be opened: 'cpi prof' says why$" \
	"and says so"
mv "$target.moved" "$target"
calc --format=json target_hot >hot.json
calc --asm target_hot >text
is "$(python3 -c '
import json
for b in json.load(open("hot.json"))["blocks"]:
    i = b["actual_cpi_interval"]
    if b["actual_cpi"]:
        print("%.2f to %.2f" % (i["low"], i["high"]))')" \
	"$(sed '1,/Total tallied/d' text | sed -n 's/^\*\*\* Actual .*(90 %: \([0-9.]* to [0-9.]*\))/\1/p')" \
	"text and JSON have the same CPI"
is "$(python3 -c '
import csv
bad = 0
for r in csv.DictReader(open("hot.csv")):
    for name in "frequency", "cpi", "dynamic_cycles":
        low, likely, high = (float(r[name + end]) for end in ("_low", "", "_high"))
        bad += not low - 0.002 <= likely <= high + 0.002
print(bad)')" 0 "what CSV calls likely is between its ends"
is "$(python3 -c '
import csv, json
rows = {r["offset"]: r for r in csv.DictReader(open("hot.csv"))}
for b in json.load(open("hot.json"))["blocks"]:
    for i in b["instructions"]:
        r = rows[i["offset"]]
        for name in "frequency", "cpi":
            for end in "low", "high":
                if abs(float(r[name + "_" + end]) - i[name + "_interval"][end]) > 1e-3:
                    print(i["offset"], name, end)')" "" \
	"CSV and JSON have the same intervals for each instruction"

# Two selections side by side: what is not known is not printed as if it were.
cpi diff full half target_hot >text 2>err
is "$? $(cat err)" "0 " "cpi diff compares a procedure"
like "$(cat text)" '^\*\*\* Block .* ms/s.*; executions: A ≤[0-9.e+]*, B ≤[0-9.e+]*$' \
	"executions that nothing ties are a bound on both sides"
like "$(grep ' test  ' text | head -n 1)" ' ≥[0-9.]*  *≥[0-9.]*  *0x' "cycles of one execution are a bound on both sides"
cpi diff full half target_hot --format=json >diff.json
cpi diff full half target_hot --format=csv >diff.csv
is "$(head -n 1 diff.csv | cut -d, -f11-18)" "a_cpi_low,a_cpi_high,b_cpi_low,b_cpi_high,\
a_executions_low,a_executions_high,b_executions_low,b_executions_high" \
	"the CSV of cpi diff has the ends of intervals"
is "$(python3 -c '
import json
calc = {i["offset"]: i for b in json.load(open("hot.json"))["blocks"] for i in b["instructions"]}
for i in json.load(open("diff.json"))["instructions"]:
    c = calc[i["address"]]
    for mine, its in ("a_executions", "frequency"), ("a_cpi", "cpi"):
        for end in "low", "high":
            if abs(i[mine + "_" + end] - c[its + "_interval"][end]) > 0.06:
                print(i["address"], mine, end)')" "" "cpi diff has the intervals of cpi calc"
cpi sum --epoch full --format=json >sum.json
is "$(python3 -c '
import json
s = json.load(open("sum.json"))["summary"]
n, c = s["instructions_interval"], s["actual_cpi_interval"]
print(n["low"] <= s["instructions"] <= n["high"], c["low"] >= s["best_case_cpi"])')" "True True" \
	"cpi sum: instructions have an interval, and nothing is faster than best possible"
is "$(python3 -c '
import json
print(sum(e["taken_samples"] + e["not_taken_samples"]
          for e in json.load(open("hot.json"))["edges"]))')" 40 \
	"the outcomes of the sampled branch are on its edges"

# The kernel's samples wait for interrupts.
calc --format=json ret_from_fork >fork.json
is "$(python3 -c '
import json
r = json.load(open("fork.json"))
print(r["summary"]["deferred"], {i["cpi"] for b in r["blocks"] for i in b["instructions"]})
')" "True {None}" "deferred code has no CPI"
