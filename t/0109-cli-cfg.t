#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi cfg on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

plan 31

cpi cfg --epoch full target_hot >hot.dot 2>err
is "$?" 0 "cpi cfg finds a procedure by its name"
is "$(cat err)" "" "cpi cfg writes no warnings"
is "$(sed -n 1p hot.dot)" "digraph cfg {" "the output is a graph in the language of graphviz"
like "$(cat hot.dot)" 'label="target_hot\\l.*/target\\l' \
	"the graph has the procedure and its image as title"
is "$(grep -o '[0-9]* cpu-clock' hot.dot | awk '{ n += $1 } END { print n }')" 600 \
	"the samples of the blocks add up"
like "$(cat hot.dot)" 'b[0-9]* \[fillcolor="0.02 0.[1-9][0-9]* 1.0".*cpu-clock' \
	"the hot block is coloured"
like "$(cat hot.dot)" '≤[0-9.e+]* executions (90 %: [0-9.e+]* to [0-9.e+]*)\\l≥[0-9.]* CPI (90 %: [0-9.]* to [0-9.e+]*), best' \
	"a block has its executions and CPI with their intervals"
like "$(cat hot.dot)" '-> b[0-9]* \[color=blue, ' "the backward jump of the loop is drawn in blue"
like "$(cat hot.dot)" '-> b[0-9]* \[color=grey, ' "the return is drawn in grey"

# Every address of the listing is in the graph, but for padding.
cpi list --epoch full --format=csv --asm target_hot >hot.csv
missing=
for address in $(awk -F, 'NR > 1 && !/,"*nop/ { sub("^0x", "", $10); print $10 }' hot.csv); do
	grep -q "$address  " hot.dot || missing="$missing $address"
done
is "$missing" "" "every instruction of the listing is in the graph"

cpi cfg --epoch full do_syscall_64 >out 2>err
is "$?" 1 "cpi cfg fails on a procedure without code"
like "$(cat err)" "do_syscall_64: cannot be explained: the kernel's code" \
	"the message says that the kernel's code is missing"

cpi cfg --epoch full -o same.dot target_hot >out
is "$?" 0 "cpi cfg -o writes a file"
try "the file is what stdout would be" cmp hot.dot same.dot
is "$(cat out)" "" "cpi cfg -o prints nothing"

# The same as JSON: the blocks are those of cpi calc.
cpi cfg --epoch full --format=json target_hot >hot.json 2>err
is "$? $(cat err)" "0 " "--format=json works"
cpi calc --epoch full --all --format=json target_hot >calc.json
cat >compare.py <<'END'
import json
cfg, calc = (json.load(open(f"{name}.json")) for name in ("hot", "calc"))
same = ("start", "end", "frequency", "frequency_interval", "best_case_cpi", "actual_cpi", "actual_cpi_interval")
print([[b[k] for k in same] for b in cfg["blocks"]] == [[b[k] for k in same] for b in calc["blocks"]],
      [{k: v for k, v in e.items() if k != "kind"} for e in cfg["edges"]] == calc["edges"],
      sum(b["samples"]["cpu-clock"] for b in cfg["blocks"]) + cfg["in_no_block"]["cpu-clock"],
      sorted({e["kind"] for e in cfg["edges"]}) == ["fall", "return", "taken"])
END
if command -v python3 >/dev/null; then
	is "$(python3 compare.py)" "True True 600 True" "blocks, edges and samples are those of cpi calc"
else
	skip 1 "python3 is missing"
fi
cpi cfg --epoch full --format=json -o x.json target_hot >out 2>err
is "$?" 2 "--format=json takes no file"
like "$(cat err)" "leave out --output" "... and says so"

mkdir empty
PATH_WITHOUT=$tmp/empty
cpi=$(command -v cpi)
PATH=$PATH_WITHOUT "$cpi" cfg --epoch full --format=svg target_hot >out 2>err
is "$?" 1 "--format=svg fails without graphviz"
like "$(cat err)" "install graphviz" "the message says to install graphviz"
PATH=$PATH_WITHOUT "$cpi" cfg --epoch full --format=json target_hot >out 2>err
is "$? $(cat err)" "0 " "--format=json needs no graphviz"
like "$(cat out)" '"box": null' "... but then does not know where blocks are in the picture"

if command -v dot >/dev/null; then
	cpi cfg --epoch full --format=svg target_hot >hot.svg
	like "$(cat hot.svg)" "<svg" "graphviz draws the graph"
	cat >boxes.py <<'END'
import json, re
svg = open("hot.svg").read()
wide, high = map(float, re.search(r'viewBox="0.00 0.00 (\S+) (\S+)"', svg).groups())
far = 0
for i, block in enumerate(json.load(open("hot.json"))["blocks"]):
    points = re.search(rf'<title>b{i}</title>\s*<polygon[^>]* points="([^"]*)"', svg)[1].split()
    x, y = zip(*(map(float, p.split(",")) for p in points))
    box = block["box"]
    far = max(far, abs(min(x) + 4 - wide * box["x"]), abs(high - 4 + min(y) - high * box["y"]),
              abs(max(x) - min(x) - wide * box["width"]), abs(max(y) - min(y) - high * box["height"]))
print("near" if far < 1.5 else f"{far} points off")
END
	if command -v python3 >/dev/null; then
		is "$(python3 boxes.py)" "near" "the box of each block is where the picture has it"
		is "$(grep -c '"box": {' hot.json)" "$(grep -c '"box":' hot.json)" "each block has a box"
	else
		skip 2 "python3 is missing"
	fi
else
	skip 3 "graphviz is not installed"
fi

# Names are hostile: target_hot is another name of a procedure that is called NAME, or, if
# that is too long, its only one.
# hostile FILE NAME: makes the program FILE, and FILE.db.
hostile()
{
	printf 'other_name %s\n' "$2" >names
	objcopy --redefine-syms=names twice "$1" && "$builddir/t/mkdb" "$1.db" "$PWD/$1" ||
		bail "no program with the name $(echo "$2" | cut -c 1-40)"
}
# hot FILE FORMAT: the graph of FILE's target_hot.
hot()
{
	cpi cfg --db "$1.db" --epoch all --format "$2" \
		"$PWD/$1:0x$(nm "$1" | awk '$3 == "target_hot" { print $1 }')"
}
if ! command -v "${CC:-cc}" >/dev/null || ! command -v objcopy >/dev/null; then
	skip 5 'there is no compiler'
	exit
fi
"${CC:-cc}" -O1 -g -S -o target.s "$srcdir/t/target.c" || bail 'no assembly'
sed 's/target_hot/other_name/g; s/^other_name:/&\n.globl target_hot\n.type target_hot,@function\n.size target_hot,1\ntarget_hot:/' \
	target.s >twice.s
"${CC:-cc}" -o twice twice.s || bail 'no program with two names of a procedure'
hostile evil "$(printf '<script>pwned()</script>\342\200\256turned&rlm;&lt;img&gt;"x\\N')"
hot evil svg >evil.svg 2>error
is "$? $(cat error)" "0 " 'a procedure with a hostile name has a picture'
cat >hostile.py <<'END'
import re, sys, xml.etree.ElementTree as e
text = "".join(t for n in e.parse("evil.svg").iter() for t in n.itertext())
tags = {n.tag.split("}")[1] for n in e.parse("evil.svg").iter()}
assert "<script>pwned()</script>" in text and '&rlm;&lt;img&gt;"x\\N' in text, text[:300]
assert not tags - {"svg", "g", "title", "polygon", "path", "text", "ellipse", "polyline"}, tags
assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", open("evil.svg").read())
END
try 'in the picture it is text, without marks that turn text' python3 hostile.py
hot evil json >evil.json 2>error
is "$(python3 -c 'import json; print(json.load(open("evil.json"))["procedure"].count("<script>"))')" 1 \
	'in JSON it is a string'
hostile long "$(printf 'n%.0s' $(seq 100000))"
hot long svg >long.svg 2>error
is "$(grep -c nnnnnnnn long.svg error | tr '\n' ' ')" 'long.svg:0 error:0 ' 'a name of 100 KB is not taken'
hot long json >long.json 2>error
bound "$(cat long.svg long.json error | wc -c)" '<=' 100000 '... and makes no answer larger'
