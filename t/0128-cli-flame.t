#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Flame graphs of call stacks whose every count is known, as files and in a browser.
# The browser is $BROWSER or Chromium.
. "$srcdir/t/tap.sh"
need sqlite3

CPI_DB=stacks.db
export CPI_DB
cat >table <<'END'
one 10 10000 main;alpha=200 main;alpha;beta=150 comm=gcc@main;gamma=100 comm=gcc@main;gamma;main;delta=30 1!beta;gamma=7 main;?1=9 jit:foo;alpha=3 <script>alert(1)</script>"'&]]>;x=4
END
"$builddir/t/runsdb" stacks.db <table || bail "no database"
# Three runs, three equal ones, and three with more samples in gamma. Stacks are a tenth
# of the samples.
for n in 1 2 3; do
	echo "before 10 1000 a=$((2000 + 9 * n)) b=$((1500 - 8 * n)) gamma=$((1000 + 4 * n))" \
		"d=$((900 - 3 * n)) e=$((1100 + n)) f;a=200 f;b=150 f;gamma=$((100 + n)) f;d=90 f;e=110"
	echo "same 10 1000 a=$((2000 - 7 * n)) b=$((1500 + 7 * n)) gamma=$((1000 - 5 * n))" \
		"d=$((900 + 4 * n)) e=$((1100 - n)) f;a=205 f;b=144 f;gamma=$((99 - n)) f;d=95 f;e=107"
	echo "after 10 1000 a=$((2000 + 5 * n)) b=$((1500 + 6 * n)) gamma=$((2000 + 5 * n))" \
		"d=$((900 + 2 * n)) e=$((1100 + 3 * n)) f;a=201 f;b=149 f;gamma=$((198 + n)) f;d=91 f;e=111"
done >table
"$builddir/t/runsdb" runs.db <table || bail "no database of runs"

# class PICTURE NAME: the colours of the boxes of that name.
class()
{
	sed -n "s/^<g class=\"f \([a-z0-9]*\)[^>]*><title>$2\$/\1/p" "$1" | tr '\n' ' '
}

plan 48

echo 'deep 10 1000 main=100 main;?3;?3;?3;beta=60 main;?3;?3;beta=20 main;?3=5 main;?1;?3=5 main;beta=90' >deep
"$builddir/t/runsdb" deep.db <deep || bail "no database of unknown frames"
cpi flame --db deep.db -o deep.svg
is "$(sed -n 's/.*<title>\(\[no_mapping\].*\|beta\|\[map_gap\].*\)$/\1/p' deep.svg | sort |
	tr '\n' ' ')" "[map_gap] [no_mapping] [no_mapping] x3 beta beta " "equal unknown frames in a row are one box with their number"
like "$(cat deep.svg)" '50% of the samples have incomplete stacks' "a line says for how much of the time callers are unknown"
like "$(cat deep.svg)" 'record with --stacks dwarf' "a line says what to do about unknown callers"
for c in tree 'callers beta'; do
	# shellcheck disable=SC2086
	like "$(cpi $c --db deep.db)" '[0-9]% of the samples have incomplete stacks: .* give the reason.*record with --stacks dwarf' \
		"cpi $c says the same below its rows"
done
unlike "$(cpi tree --db deep.db --format=csv)" 'incomplete stacks' "CSV says nothing of incomplete stacks"
unlike "$(cpi tree --db runs.db --epoch before)" 'incomplete stacks' "cpi tree says nothing of incomplete stacks if callers are known"
unlike "$(cpi flame --db runs.db --epoch before)" 'incomplete stacks' \
	"cpi flame says nothing of incomplete stacks if callers are known"
cpi flame -o one.svg 2>err
is "$?$(cat err)" 0 "cpi flame draws a picture and writes no warnings"
cpi flame >again.svg
try "the same stacks give the same picture" cmp one.svg again.svg
cpi flame --icicle -o icicle.svg
is "$(grep -c 'data-icicle=""' one.svg icicle.svg | cut -d: -f2 | tr '\n' ' ')" "0 1 " \
	"--icicle marks the picture as an icicle"
like "$(cat one.svg)" 'class="title"[^>]*>cpu-clock of web1<' \
	"the title names the event and the host"
like "$(cat one.svg)" 'Epoch 1 &#34;one&#34;: 2026-01-02T03:00:00Z to' \
	"the subtitle names the epoch"
like "$(cat one.svg)" 'cpu-clock from perf, a stack per 10 ms: 503 samples, 5.030 s' \
	"the subtitle names the stream"
is "$(class one.svg main | cut -c1-2)$(class one.svg foo | cut -c1-2)$(class one.svg '\[map_gap\]' |
	cut -c1-2)" "k2k3k4" "kernel, JIT and unknown frames have colours of their own"
unlike "$(cat one.svg)" '<script>alert' "a hostile name is escaped"
like "$(cpi flame --threshold 10)" '<g class="f p" data-d="2"[^>]*><title>(1 more, each below' \
	"frames below the threshold share a box"
like "$(cpi flame --inverted)" 'class="title"[^>]*>cpu-clock of web1, from the leaves<' \
	"--inverted is named in the title"
is "$(cpi flame --commands | class - gcc | cut -c1-2)" k5 "--commands draws a box for each command"
cpi flame 1 >/dev/null 2>&1
is "$?" 2 "one side of a comparison is a usage error"
cpi flame 1 1 --inverted >/dev/null 2>&1
is "$?" 2 "--inverted with two sides is a usage error"
is "$(cpi flame -o /nonexistent/x.svg 2>&1)" \
	"cpi: error: /nonexistent/x.svg: No such file or directory" \
		"an output path that cannot be written is an error"
is "$(grep -cE 'https?://' one.svg)" "$(grep -cE 'http://www.w3.org/(2000/svg|1999/xhtml)' one.svg)" \
	"the picture refers to no URL but its namespaces"

CPI_DB=runs.db
cpi flame before after -o changed.svg
is "$(class changed.svg gamma)" "u2 " "a box that grew is red"
is "$(class changed.svg a)$(class changed.svg b)$(class changed.svg f)" "e e e " \
	"boxes that did not change are grey"
like "$(cat changed.svg)" 'changed significantly, as cpi diff judges\. Grew most: gamma, 15\.[0-9]% to 26\.[0-9]%\.' \
	"the text names the procedure that grew most"
like "$(cat changed.svg)" 'the procedure itself: +9[0-9]\.[0-9]% .*, significant' \
	"the box has the change and says that it is significant"
cp runs.db events.db
sqlite3 events.db "INSERT INTO stream SELECT 99, 'cycles', source, cpu_type, unit,
		mean_period, landing FROM stream LIMIT 1;
	UPDATE profile SET stream = 99; UPDATE tally SET stream = 99 WHERE kind = 0"
cpi flame --db events.db before after --event=cpu-clock -o event.svg
is "$? $(class event.svg gamma)" "0 u2 " \
	"flat profiles of another event do not hinder the comparison"
cpi flame after before -o back.svg
is "$(class back.svg gamma)" "d2 " "a box that shrank is blue"
cpi flame before same -o same.svg
is "$(grep -cE 'class="f [ud][1-4]' same.svg)" 0 "equal runs have grey boxes only"
cpi flame 1 3 --history none -o few.svg
is "$(class few.svg gamma)$(class few.svg a)" "u2 e " \
	"one run a side: a change far beyond the sampling error is red"
like "$(cat few.svg)" 'Too few epochs to tell' \
	"one run a side: the text says that there are too few epochs"
cpi flame 1 2 --history none -o few.svg
is "$(grep -cE 'class="f [ud][1-4]' few.svg)" 0 \
	"one run a side: a change within the sampling error is grey"

if ! command -v python3 >/dev/null; then
	skip 15 "no python3 to read with"
	exit 0
fi
is "$(python3 -c '
import sys, xml.etree.ElementTree as t
for name in sys.argv[1:]:
    print(t.parse(name).getroot().tag.split("}")[1])' one.svg icicle.svg changed.svg | uniq)" svg \
	"the pictures are well-formed XML"
is "$(python3 - one.svg <<'END'
import re, sys

def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [p / 12.92 if p <= .03928 else ((p + .055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((.2126, .7152, .0722), parts))

css = open(sys.argv[1]).read().split("<style>")[1].split("</style>")[0]
full = lambda c: c if len(c) == 7 else "#" + "".join(2 * x for x in c[1:])
ink = luminance(full(re.search(r"^text .*fill: (#\w+)", css, re.M)[1]))
fills = {k: luminance(full(c)) for k, c in
         re.findall(r"^\.(?:looking \.)?([kudem]\d?|r rect, \.e) rect \{ fill: (#\w+)", css, re.M)}
print(len(fills), all((f + .05) / (ink + .05) >= 4.5 for f in fills.values()))
END
)" "16 True" "text has enough contrast on every colour"

cpi flame before after --format=json >changed.json
is "$(python3 - changed.svg changed.json <<'END'
import json, re, sys
boxes = re.findall(r'<g class="f (\w+) *i?" data-d="(\d+)"[^>]*><title>([^\n<]*).*?(\d+) samples before, (\d+) after',
                   open(sys.argv[1]).read(), re.S)
drawn = [(name, int(depth), int(a), int(b), cls) for cls, depth, name, a, b in boxes if cls not in "rp"]
rows = [(r["procedure"], r["depth"], r["a_samples"], r["b_samples"],
         ("u" if r["more"] else "d") + str(r["shade"]) if r["shade"] else "e")
        for r in json.load(open(sys.argv[2]))["rows"] if r["kind"] != "pruned"]
print(len(rows) > 5, rows == drawn or (rows, drawn))
END
)" "True True" "JSON has the boxes of the picture, with their samples and colours"
is "$(cpi flame --db stacks.db --format=json 2>&1 | head -c 1)" "{" \
	"JSON of one side is that of cpi tree"
cpi flame before after --format=json -o x.json >out 2>error
is $? 2 "JSON with --output is a usage error"

for b in "${BROWSER:-chromium}" chromium-browser google-chrome none; do
	browser=$(command -v "$b") && break
done
if [ -z "$browser" ]; then
	skip 10 "no Chromium to look with"
	exit 0
fi
python3 "$srcdir/t/browser.py" "$browser" one.svg 0 >seen 2>why
if [ $? -eq 77 ]; then
	skip 10 "$(cat seen)"
	exit 0
fi
sed 's/^/# /' why
unlike "$(cat seen)" 'False' "the browser zooms by pointer and key, resets and resizes"
is "$(sed -n 's/^trouble: //p' seen)" "[]" "the browser reports no error and no request"
is "$(sed -n 's/^hostile name: //p' seen)" "<script>alert(1)</script>\"'&]]>" \
	"the browser shows the hostile name as text"
is "$(sed -n 's/^tip text: //p' seen)" "alpha | prog | 350 samples, 69.58% | itself 39.76%" \
	"the tip of a box has the name, the image and the samples"
is "$(sed -n 's/^zoomed boxes: //p' seen)" "all alpha beta main" \
	"zoom shows callers and callees only"
is "$(sed -n 's/^search main: //p' seen)" "97.22% in 2 found = main main" \
	"search counts a recursive procedure once"
is "$(sed -n 's/^search ^(al|be): //p' seen)" "71.57% in 4 found = alpha alpha beta beta" \
	"search takes regular expressions"
is "$(sed -n 's/^steps: //p' seen)" "beta beta beta main beta beta alpha" \
	"arrow keys walk through the boxes"
python3 "$srcdir/t/browser.py" "$browser" icicle.svg 1 >seen2
is "$(sed -n 's/^steps: //p' seen2)" "beta beta beta main beta beta alpha" \
	"arrow keys walk through an icicle"
is "$(sed -n 's/^root: //p' seen seen2 | tr '\n' ' ')" "bottom top " \
	"the root is at the bottom of a flame graph, at the top of an icicle"
