#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi diff on runs whose every count is known.
. "$srcdir/t/tap.sh"
need sqlite3

CPI_DB=runs.db
export CPI_DB
{
	for n in 0 1 2 3 4; do
		echo "old 10 1000 alpha=$((2000 + 13 * n)) beta=$((1500 - 9 * n))" \
			"gamma=$((1000 + 7 * n)) delta=$((800 - 5 * n)) lost=100" \
			"v1:common=500"
		echo "same 10 1000 alpha=$((1990 + 17 * n)) beta=$((1510 - 8 * n))" \
			"gamma=$((1010 + 5 * n)) delta=$((790 + 2 * n)) lost=100" \
			"v1:common=500"
		# Half the rate; a fifth more time in gamma, and a new procedure.
		echo "new 10 2000 alpha=$((1000 + 6 * n)) beta=$((750 - 5 * n))" \
			"gamma=$((600 + 4 * n)) delta=$((400 - 2 * n)) found=60" \
			"v1:common=250"
	done
} >table
"$builddir/t/runsdb" runs.db <table || bail "no database"

plan 64

cpi diff old new >text 2>err
is "$?" 0 "cpi diff compares two selections"
is "$(cat err)" "" "cpi diff writes no warnings"
like "$(cat text)" '^3 of 7 tested rows changed' \
	"the text counts the rows that changed"
row()
{
	sed -n '/^A ms/,$p' text | sed 1d | grep " $1 " | tr -s ' ' | sed 's/^ //; s/ $//'
}
like "$(cat text)" '^  gamma: changed (cause unknown), +20\.[0-9]% (95%: +1[0-9]\.[0-9]% to +2[0-9]\.[0-9]%)$' \
	"a line says what was found, with its interval"
like "$(row gamma)" '^101.40 121.60 .* +20\.[0-9]% gamma prog .* +1[0-9]\.[0-9]% +2[0-9]\.[0-9]% ' \
	"a fifth more time is found although the rate halved"
is "$(sed -n '/^A ms/{n;p;}' text | grep -c ' gamma ')" 1 "the row that changed comes first"
like "$(row gamma)" ' gamma prog changed (cause unknown) ' "a procedure without code has no verdict"
like "$(row found)" ' found prog new ' "a procedure that appeared is new"
like "$(row lost)" ' lost prog gone ' "a procedure that disappeared is gone"
like "$(row alpha)" ' [-+]*0\.[0-9]% alpha prog -[0-9.]*% +[0-9.]*% ' \
	"the interval of an unchanged procedure contains zero"
like "$(cpi diff old same)" '0 of 6 tested rows changed by more than chance explains' \
	"equal runs are reported as equal"

cpi diff 1 2 --history=none >text
like "$(cat text)" '^Only 1 epoch a side' \
	"one epoch a side: the text says that only the sampling error is known"
unlike "$(sed -n '/^A ms/,$p' text)" 'cause unknown' "one epoch a side: rows have no verdict"
is "$(cpi diff 1 2 --history=none --format=csv | cut -d, -f11,10 | sort -u)" \
	"$(printf '%s\n' , p,q)" "one epoch a side: rows have no p value"
like "$(cpi diff 14 15)" '^Variation between epochs, from 13 earlier ones' \
	"earlier epochs give the variation between epochs"
like "$(cpi diff 14 15 --history 1..4)" '^Variation between epochs, from 4 earlier ones' \
	"--history names the earlier epochs"
like "$(cpi diff old new --threshold=30)" '^2 of 7 tested rows' \
	"--threshold=30 reports only new and gone rows"
is "$(cpi diff old new --by image --format=csv | cut -d, -f17 | sort | tr '\n' ' ')" \
	"image prog v1 " "rows by image"
like "$(cpi diff old new --by image)" 'too few rows are in both A and B' \
	"two rows are too few for a median"
is "$(cpi diff old new --format=csv --limit 1 | tail -n 1 | cut -d, -f12,13,14,17)" \
	"1,undetermined,both,gamma" "cpi diff writes CSV"
cpi diff new old >text
like "$(row gamma)" ' -1[67]\.[0-9]% gamma .* -----*$' "the other way round, the change is negative"
like "$(cpi diff old new --color=always)" "$(printf '\033\\[1;31m')" \
	"--color=always colours the rows"
cpi diff old >/dev/null 2>&1
is "$?" 2 "one selection is a usage error"

{
	for n in 0 1 2 3; do
		echo "a 10 1000 cgroup=/x.slice/one.service@main=$((1000 + 9 * n))" \
			"cgroup=/x.slice/two.service@main=$((900 - 8 * n)) main=$((800 + n))" \
			"cgroup=/y.slice/y.service@main=500"
		echo "b 10 1000 cgroup=/x.slice/one.service@main=$((1300 + 9 * n))" \
			"cgroup=/x.slice/two.service@main=$((905 - 8 * n)) main=$((799 + n))" \
			"cgroup=/y.slice/y.service@main=503"
	done
} | "$builddir/t/runsdb" whose.db || bail "no database"
is "$(cpi diff --db whose.db a b --by unit --format=csv --limit 1 | cut -d, -f12,14,16,17 |
	tail -n 1)" "1,both,,one.service" "rows by unit compare the samples of each unit"
is "$(cpi diff --db whose.db a b --by cgroup --format=csv | cut -d, -f12,17 | sort |
	tr '\n' ' ')" \
	"0,/x.slice/two.service 0,/y.slice/y.service 0,[unknown cgroup] 1,/x.slice/one.service found,cgroup " \
	"rows by cgroup compare the samples of each cgroup"
cpi diff --db whose.db a b --by label >/dev/null 2>err
like "$? $(cat err)" "1 .*no profiles by label" \
	"rows by a context that was not collected are an error"

# Earlier epochs are asked only if they have what is compared.
cp whose.db later.db
sqlite3 later.db "DELETE FROM profile WHERE epoch <= 6 AND
	context IN (SELECT id FROM context WHERE name GLOB 'cgroup=*')"
like "$(cpi diff --db later.db 7 8 --cgroup='/x*' 2>&1)" '^Only 1 epoch a side' \
	"--cgroup: earlier epochs without contexts are left out"
like "$(cpi diff --db later.db 7 8 --by unit 2>&1)" '^Only 1 epoch a side' \
	"--by unit: earlier epochs without contexts are left out"
cp runs.db events.db
sqlite3 events.db "INSERT INTO stream SELECT 99, 'cache-misses', source, cpu_type, 'events',
		mean_period, landing FROM stream LIMIT 1;
	UPDATE profile SET stream = 99 WHERE epoch > 13;
	UPDATE tally SET stream = 99 WHERE epoch > 13"
like "$(cpi diff --db events.db 14 15 2>&1)" '^Only 1 epoch a side' \
	"earlier epochs of another event are left out"
sqlite3 runs.db "UPDATE stream SET event = 'instructions', unit = 'events'"
cpi diff old new --format=csv >out 2>err
is "$? $(cat err) $(sed -n 2p out | cut -d, -f12,17)" "0  1,gamma" \
	"a change of an event that measures no time has no verdict"
sqlite3 runs.db "UPDATE stream SET event = 'cpu-clock', unit = 'ns'"

# One epoch a side: what is more than sampling is marked, and nothing is called changed.
"$builddir/t/runsdb" once.db <<'END' || bail "no database"
before 10 1000 big=5000 mid=4000 low=3000 slow=1000 tiny=20
after 10 1000 big=5010 mid=3990 low=3005 slow=2000 tiny=25
END
cpi diff --db once.db before after >text
like "$(cat text)" '^1 of 5 rows differ by more than sampling (by over 25% plus 4 standard errors); none of them can be called changed' \
	"one epoch a side: the text counts the rows that differ by more than sampling"
like "$(cat text)" '^Of rows without a change, 1 in 10 has a 90% interval without 0' \
	"the text says why an interval without 0 is not enough"
like "$(row slow)" ' slow prog more than sampling ' "such a row is marked"
unlike "$(row tiny)" 'sampling' "a row with few samples is not marked"
# A row whose share fell although it takes more time beside the others has one sign.
"$builddir/t/runsdb" share.db <<'END' || bail "no database"
before 10 1000 big=5000 mid=4000 low=3000 slow=1000 left=9000
after 10 1000 big=2500 mid=2000 low=1500 slow=900 came=20000
END
cpi diff --db share.db before after >text
like "$(row slow)" '^100.00 90.00 4.55 3.35 +[0-9.]*% slow .*[^-]$' "a row has the sign of its change alone"

# An epoch weighs the same whether or not it has samples of other images.
"$builddir/t/runsdb" none.db <<'END' || bail "no database"
a 10 1000 prog:x=1000
b 10 1000 other:y=500
c 10 1000
END
change()
{
	cpi diff --db none.db 1,2 1 --history=none --format=csv "$@" |
		awk -F, '$17 == "prog" { printf "%.6f\n", $7 }'
}
all=$(change --by image)
is "$(change --by image --image prog)" "$all" "--image: an epoch without the image weighs the same"
is "$(cpi diff --db none.db 1,3 1 --history=none --format=csv --by image |
	awk -F, '$17 == "prog" { printf "%.6f\n", $7 }')" "$all" \
		"an epoch without samples weighs the same"

# Of two databases joined for each side, images are what they are, whatever their number.
echo "a 10 1000 first:x=500 prog:[0x10]=1000" | "$builddir/t/runsdb" one.db &&
	printf '%s\n' "- 10 1000 first:x=500" "b 10 1000 prog:[0x10]=1000" |
	"$builddir/t/runsdb" two.db &&
	echo "c 10 1000 prog:[0x10]=1000" | "$builddir/t/runsdb" build.db ||
	bail "no databases"
status()
{
	cpi diff --db "$1" --db two.db 1:1 2:2 --history=none --format=csv |
		awk -F, '$17 == "[0x10]" { print $14 }' | sort | tr '\n' ' '
}
is "$(status one.db)" "both " "a build that two databases know is one row"
is "$(status build.db)" "gone new " "two builds of one name are two rows"

cpi diff old new --format=svg >diff.svg
if ! command -v python3 >/dev/null; then
	skip 2 "no python3 to read with"
	exit 0
fi
is "$(python3 -c '
import xml.etree.ElementTree as t
root = t.parse("diff.svg").getroot()
print(root.tag.split("}")[1], len(root.findall("{*}g")))')" "svg 7" "--format=svg draws a row for each procedure"
is "$(cpi diff old new --format=json | python3 -c '
import json, sys
d = json.load(sys.stdin)
r = d["rows"][0]
print(d["basis"], d["normalized_by"], d["found"], r["procedure"], r["found"],
      r["low_percent"] < r["change_percent"] < r["high_percent"],
      abs(r["delta_per_second"] - r["b_per_second"] + r["a_per_second"]) < 1e-3,
      abs(sum(x["a_percent"] for x in d["rows"]) - 100) < 1e-9)')" \
	"runs median 3 gamma 1 True True True" "cpi diff writes JSON"

# --fail-if
gate()
{
	cpi diff "$@" >out 2>err
	echo $?
}
is "$(gate old new --fail-if 'slower > 3 %')" 3 "--fail-if: a finding above the limit"
like "$(cat err)" 'slower > 3 %: gamma +20' "--fail-if names the row and its change"
like "$(cat out)" '^A ms' "--fail-if prints the comparison all the same"
is "$(gate old new --fail-if 'slower>30%' --image prog)" 3 "--fail-if: a new row takes more time"
unlike "$(cat err)" gamma "--fail-if: a smaller change does not count"
is "$(gate old same --fail-if slower)" 0 "--fail-if: equal runs pass"
is "$(gate new old --fail-if 'changed > 10')" 3 "--fail-if: changed is met by less time"
is "$(gate 1 2 --history=none --fail-if slower)" 1 "--fail-if: one epoch a side cannot pass"
like "$(cat err)" 'cannot be judged' "--fail-if says why"
is "$(gate old new --image nothing --fail-if slower)" 1 "--fail-if: no row that is tested cannot pass"
gate 1 2 --history=none --fail-if slower --format=junit >/dev/null
like "$(tr '\n' ' ' <out)" 'tests="1" failures="0" errors="1".*<error message="cannot be judged' \
	"--format=junit has it as an error"
for wrong in faster 'slower > x' 'slower < 3' ''; do
	gate old new --fail-if "$wrong"
done >codes
is "$(sort -u codes)" 2 "a condition that is none is a usage error"
is "$(gate old new --format=junit)" 2 "--format=junit needs a condition"
is "$(gate old new alpha --fail-if slower)" 2 "--fail-if is not for one procedure"
gate old new --fail-if 'slower > 3 %' --format=junit >/dev/null
is "$(python3 - <<'.'
import xml.etree.ElementTree as tree
suite = tree.parse("out").getroot().find("testsuite")
cases = suite.findall("testcase")
failed = [c.get("name") for c in cases if c.find("failure") is not None]
assert int(suite.get("tests")) == len(cases) and int(suite.get("failures")) == len(failed)
print(suite.get("name"), sorted(failed))
.
)" "slower > 3 % ['found', 'gamma']" "JUnit's report has the rows that fail"
gate old new --by=comm --fail-if 'changed > 1' >/dev/null
unlike "$(cat err)" '(null)' "--fail-if names a row by context by its context"
is "$(gate old same --fail-if slower --format=junit)$(grep -c '<failure' out)" 00 \
	"JUnit's report of equal runs has no failure"

# A procedure that was rebuilt: one instruction more, others changed.
if ! command -v python3 >/dev/null || ! command -v "${CC:-cc}" >/dev/null; then
	skip 5 "python3 or a compiler is missing"
	exit
fi
for side in a b; do
	mkdir "$side"
	if [ $side = a ]; then
		cp "$srcdir/t/target.c" a/target.c
	else
		sed 's/sum \* 3 + 1/(sum ^ n) * 5 + 1/' "$srcdir/t/target.c" >b/target.c
	fi
	"${CC:-cc}" -O1 -g -o "$side/target" "$side/target.c" || bail "no program"
	"$builddir/t/mkdb" "$side.db" "$side/target" || bail "no database"
	cpi epoch label --db "$side.db" 1 "$side" || bail "no label"
done
# Another boot: else these would be the same epochs.
sqlite3 b.db "UPDATE platform SET boot_id = '00000000-0000-0000-0000-000000000002'"
cpi epoch import --db a.db b.db >import.out 2>&1 || bail "$(cat import.out)"
CPI_DB=a.db
cpi diff a b target_hot --format=json >rebuilt.json 2>err
is "$? $(cat err)" "0 " "cpi diff compares a procedure that was rebuilt"
cpi calc --epoch a --all --format=json target_hot >a.json
cpi calc --epoch b --all --format=json target_hot >b.json
cat >rebuilt.py <<'END'
import json
d, a, b = (json.load(open(f"{name}.json")) for name in ("rebuilt", "a", "b"))
rows = d["instructions"]
lists = [[i for block in side["blocks"] for i in block["instructions"]] for side in (a, b)]
print(d["same_code"], d["matched"])
print([r["address"] for r in rows if r["address"]] == [i["offset"] for i in lists[0]],
      [r["b_address"] for r in rows if r["b_address"]] == [i["offset"] for i in lists[1]])
texts = [{i["offset"]: i["text"] for i in side} for side in lists]
both = [r for r in rows if r["address"] and r["b_address"]]
print(all(texts[0][r["address"]].split()[0] == texts[1][r["b_address"]].split()[0] for r in both),
      any(not r["address"] for r in rows), len(both) > len(lists[0]) / 2)

def longest(x, y):  # of common subsequences of operations
    row = [0] * (len(y) + 1)
    for i in x:
        last = row[:]
        for k, j in enumerate(y):
            row[k + 1] = last[k] + 1 if i == j else max(last[k + 1], row[k])
    return row[-1]

x, y = ([i["text"].split()[0] for i in side] for side in lists)
print(len(both) <= longest(x, y), len(both) >= 0.8 * longest(x, y))
print(abs(sum(r["a_ms_per_second"] or 0 for r in rows) - sum(r["b_ms_per_second"] or 0 for r in rows)) < 1e-6,
      all(r["a_ms_per_second"] is None for r in rows if not r["address"]))
fast = [{i["offset"]: int(b["faster_than_best"]) for b in side["blocks"] for i in b["instructions"]}
        for side in (a, b)]
print(all(r[f"{ab}_faster_than_best"] == (fast[k][r[at]] if r[at] else None)
          for k, (ab, at) in enumerate((("a", "address"), ("b", "b_address"))) for r in rows))
END
python3 rebuilt.py >rebuilt.out 2>&1
is "$(sed -n 1,2p rebuilt.out)" "False True
True True" "each instruction of both sides is in one row, in its order"
is "$(sed -n 3p rebuilt.out)" "True True True" "rows of both sides have one operation"
is "$(sed -n 4p rebuilt.out)" "True True" "as many are matched as can be"
is "$(sed -n 5p rebuilt.out)" "True True" "times are of their side"
is "$(sed -n 6p rebuilt.out)" "True" "each side's instructions are marked as in cpi calc"
