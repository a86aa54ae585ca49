#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Trees of call stacks whose every count is known.
. "$srcdir/t/tap.sh"

CPI_DB=stacks.db
export CPI_DB
cat >table <<'END'
one 10 10000 alpha=20 main;alpha=200 main;alpha;beta=150 comm=gcc@main;gamma=100 comm=gcc@main;gamma;main;delta=30 1!beta;gamma=7 main;?1=9 idle:idle;idle:hlt=55 jit:foo;alpha=3 main;tiny=1
two 10 20000 alpha=20 main;alpha=50
END
"$builddir/t/runsdb" stacks.db <table || bail "no database"
echo "none 10 10000 alpha=20" | "$builddir/t/runsdb" flat.db || bail "no second database"
echo "- 10 10000 alpha=20 main;work=11 2!;=5 3!;=4" | "$builddir/t/runsdb" empty.db ||
	bail "no third database"
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14; do
	printf 'comm=c%s@main;p%s=1 ' "$i" "$i"
done >words
echo "- 10 10000 alpha=20 $(cat words)" | "$builddir/t/runsdb" commands.db ||
	bail "no fourth database"

# rows COMMAND...: samples, self samples, depth, procedure of each row.
rows()
{
	"$@" --format=csv | cut -d, -f1,4,8,9 | sed 1d | tr '\n' ' '
}

plan 40

is "$(rows cpi tree --epoch one)" \
	"490,0,1,main 350,200,2,alpha 150,150,3,beta 130,100,2,gamma 30,0,3,main 30,30,4,delta 9,9,2,[map_gap] 1,,2,(1 more) 7,0,1,[limit] 7,0,2,beta 7,7,3,gamma 3,0,1,foo 3,3,2,alpha " \
	"cpi tree lists callees below callers, and small ones as one row"
is "$(rows cpi tree --epoch one --threshold 0.01 | grep -o '[0-9,]*tiny')" "1,1,2,tiny" \
	"--threshold 0.01 lists rows of 0.01 % and more"
is "$(rows cpi tree --epoch one --threshold 50)" \
	"490,0,1,main 350,200,2,alpha 150,,3,(1 more) 140,,2,(3 more) 10,,1,(2 more) " \
	"--threshold 50 counts the rows that it leaves out"
is "$(rows cpi tree --epoch one --inverted --threshold 5)" \
	"203,,1,alpha 200,,2,main 3,,2,(1 more) 150,,1,beta 150,,2,alpha 150,,3,main 107,,1,gamma 100,,2,main 7,,2,(1 more) 30,,1,delta 30,,2,main 30,,3,gamma 30,,4,main 10,,1,(2 more) " \
	"--inverted lists callers below callees"
is "$(rows cpi tree --epoch one --commands --threshold 20)" \
	"370,0,1,[unknown command] 360,0,2,main 350,200,3,alpha 150,150,4,beta 10,,3,(2 more) 10,,2,(2 more) 130,0,1,gcc 130,0,2,main 130,100,3,gamma 30,,4,(1 more) " \
	"--commands adds a level for commands"
is "$(rows cpi tree --epoch one --comm gcc)" \
	"130,0,1,main 130,100,2,gamma 30,0,3,main 30,30,4,delta " \
		"--comm lists the stacks of one command"
is "$(rows cpi tree --epoch one --idle --threshold 11)" \
	"490,0,1,main 350,200,2,alpha 150,150,3,beta 130,100,2,gamma 30,,3,(1 more) 10,,2,(2 more) 65,,1,(3 more) " \
	"--idle includes idle CPUs"
is "$(cpi tree --epoch all --format=csv | sed -n 2p | cut -d, -f1-3)" "540,98.33,5900000000" \
	"samples of streams with different periods are weighted"

is "$(rows cpi callers beta --epoch one)" \
	"157,,1,beta 150,,2,alpha 150,,3,main 7,,2,[limit] " \
		"cpi callers lists the callers of a procedure"
is "$(rows cpi callers main --epoch one)" "490,,1,main " \
	"cpi callers counts a recursive procedure once"
is "$(rows cpi callees main --epoch one | cut -d' ' -f1-5)" \
	"490,0,1,main 350,200,2,alpha 150,150,3,beta 130,100,2,gamma 30,0,3,main" \
	"cpi callees lists the callees of a procedure, recursive calls too"
is "$(rows cpi callees 'prog:gam*' --epoch one)" \
	"137,107,1,gamma 30,0,2,main 30,30,3,delta " "cpi callees takes an image and a pattern"
is "$(rows cpi callees alpha --epoch one)" "353,203,1,alpha 150,150,2,beta " \
	"cpi callees adds up all callers of the procedure"
is "$(rows cpi callers main --epoch one --commands)" \
	"490,,1,main 360,,2,[unknown command] 130,,2,gcc " \
		"cpi callers --commands lists the commands"
is "$(rows cpi callees main --epoch one --commands)" \
	"$(rows cpi callees main --epoch one)" "cpi callees --commands lists no commands"
is "$(rows cpi callers p01 --commands --db commands.db)" \
	"1,,1,p01 1,,2,main 1,,3,c01 " "cpi callers --commands finds one command of many"
is "$(cpi callers gc --epoch one --commands 2>&1)" \
	"cpi: error: gc: in no call stack: 'cpi prof --children' lists the procedures that are" \
	"a command is not suggested in place of a procedure"
is "$(cpi callers bete --epoch one 2>&1)" \
	"cpi: error: bete: in no call stack: did you mean 'beta'?" \
		"a misspelt procedure gets a suggestion"
cpi callers bete --epoch one >/dev/null 2>&1
is "$?" 1 "a misspelt procedure is an error"
like "$(cpi callers xyzzyxyzzy --epoch one 2>&1)" "'cpi prof --children' lists" \
	"the message about an unknown procedure says how to list procedures"

cpi tree --epoch one >text
like "$(cat text)" '^Total samples of stacks for event type cpu-clock = 500$' \
	"the text has the total"
like "$(cat text)" ' 9\.9 % idle (not counted), ' \
	"the text has the samples of idle CPUs"
like "$(cat text)" '^    490  98.00%   0.00%  #* *- main  *prog$' \
	"bars are ASCII characters in the C locale"
like "$(cat text)" '^    150  30.00%  30.00%  #* *     beta  *prog$' \
	"a row is indented only below a branch"
like "$(LC_ALL=C.UTF-8 cpi tree --epoch one)" '^    490  98.00%   0.00%  \(█\)*▋  - main  *prog$' \
	"bars are blocks in a UTF-8 locale"

is "$(cpi prof --children --epoch one --format=csv | cut -d, -f1,4,7 | sed 1d | tr '\n' ' ')" \
	"490,0,main 353,203,alpha 157,150,beta 137,107,gamma 30,30,delta 9,9,[map_gap] 3,0,foo 1,1,tiny " \
	"cpi prof --children lists samples with and without callees"
is "$(cpi prof --children --epoch one --sort self --limit 2 --format=csv | cut -d, -f7 |
	sed 1d | tr '\n' ' ')" "alpha beta " "cpi prof --children --sort self orders by own samples"
is "$(cpi prof --children --epoch one --by image --format=csv | cut -d, -f1,4,9 | sed 1d |
	tr '\n' ' ')" "500,491,prog 9,9,[map_gap] 3,0,jit " \
		"cpi prof --children --by image lists images"
is "$(cpi prof --children --epoch one --procedure 'm*' --format=csv | sed 1d | cut -d, -f1,7)" \
	"490,main" "cpi prof --children --procedure lists matching procedures"
is "$(cpi prof --children --db empty.db --format=csv | cut -d, -f1,4,7 | sed 1d | tr '\n' ' ')" \
	"11,0,main 11,11,work 5,5,[unreadable] 4,4,[no_start] " \
		"cpi prof --children: stacks without frames are listed by their reason"
is "$(cpi prof --children --by image --db empty.db --format=csv | cut -d, -f1,4,9 | sed 1d |
	tr '\n' ' ')" "11,11,prog 5,5,[unreadable] 4,4,[no_start] " \
		"cpi prof --children --by image: stacks without frames are listed by their reason"
is "$(rows cpi tree --db empty.db)" \
	"11,0,1,main 11,11,2,work 5,5,1,[unreadable] 4,4,1,[no_start] " \
		"cpi tree: stacks without frames are listed by their reason"
cpi prof --children --by comm >/dev/null 2>&1
is "$?" 2 "cpi prof --children --by comm is a usage error"
is "$(cpi prof --epoch one --format=csv | sed 1d | cut -d, -f1)" 20 \
	"the flat profile does not count samples of stacks"

for c in tree "callers main" "callees main" "prof --children" "flame -o none.svg"; do
	# shellcheck disable=SC2086 # words
	cpi $c --db flat.db 2>&1
	echo "$?"
done >none
is "$(grep -c "no call stacks: collect them with 'cpi record -g" none)" 5 \
	"without stacks, the message says how to collect them"
is "$(grep -c '^1$' none)" 5 "without stacks, the command fails"
like "$(cpi tree --event page-faults 2>&1)" 'no call stacks of page-faults' \
	"the message names the event that has no stacks"
cpi callers >/dev/null 2>&1
is "$?" 2 "cpi callers without a procedure is a usage error"

if ! command -v python3 >/dev/null; then
	skip 2 "no python3 to read with"
	exit 0
fi
cpi tree --epoch one --format=json >tree.json
is "$(python3 -c '
import json
d = json.load(open("tree.json"))
rows = {r["id"]: r for r in d["rows"]}
left = {i: r["samples"] - (r["self_samples"] or 0) for i, r in rows.items()}
for r in d["rows"]:
    if r["parent"]: left[r["parent"]] -= r["samples"]
inner = [i for i, r in rows.items() if r["kind"] != "pruned"]
print(d["samples"], d["idle_samples"], sum(r["samples"] for r in rows.values() if not r["parent"]),
      all(left[i] == 0 for i in inner), sorted({r["kind"] for r in rows.values()}))')" \
	"500 55 500 True ['JIT', 'kernel', 'pruned', 'unknown']" \
	"JSON: each row has the sum of its children"
is "$(cpi prof --children --epoch one --format=json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["samples"], sum(r["samples"] for r in d["rows"]))')" "500 500" \
	"JSON: own samples of all procedures add up to the total"
