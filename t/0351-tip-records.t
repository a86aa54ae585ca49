#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TIP records of a trace, through the database: whose cycles they are.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to read JSON'
command -v sqlite3 >/dev/null || skip_all 'sqlite3 is missing'
plan 28

traces=$srcdir/t/fixtures/tip
part=$traces/konata-part.kanata.gz

# replay DB TRACE OPTION...: samples of a trace become an epoch of a database.
replay()
{
	db=$1
	trace=$2
	shift 2
	cpi tip --records=r.tip "$@" "$trace" >/dev/null && cpi record --replay=r.tip -o "$db" 2>err
}

# compare DB TRACE: the database's shares by PC, and the Oracle's of the whole trace.
cat >compare.py <<'END'
import json, math, subprocess, sys
db, trace = sys.argv[1:3]
def run(*args):
    return subprocess.check_output(["cpi", *args], text=True)
oracle = {int(r["pc"], 16): r["oracle"]
          for r in json.loads(run("tip", "--format=json", trace))["profile"]}
got, total = {}, 0
text = run("calc", "--attribution=tip", "--db", db, "--format=json", *sys.argv[3:])
for line in text.splitlines() if "--all" in sys.argv else [text]:
    r = json.loads(line)
    assert r["attribution"] == "tip", r["attribution"]
    assert sum(r["summary"]["cycle_stack"].values()) > 0
    for i in r["blocks"][0]["instructions"]:
        assert abs(sum(i["cycle_stack"].values()) - i["blamed_samples"]) < 1e-4
        got[int(i["offset"], 16)] = i["blamed_samples"]
        total += i["samples"]["cycles"]
assert abs(sum(got.values()) - total) < 1e-3
END
cat >exact.py <<'END'
exec(open("compare.py").read())
assert {p for p in oracle if oracle[p]} == {p for p in got if got[p]}
assert all(abs(got.get(p, 0) / total - oracle[p]) < 1e-6 for p in oracle)
END
# One sample in each interval: Bernstein's bound of a sum of independent shares, for all
# instructions together wrong once in 10^6; the last interval may be a part of one.
cat >within.py <<'END'
exec(open("compare.py").read())
L = math.log(2 * len(oracle) / 1e-6)
worst = 0
for p, want in oracle.items():
    bound = math.sqrt(2 * want * (1 - want) * L / total) + (L / 3 + 2) / total
    worst = max(worst, abs(got.get(p, 0) / total - want) / bound)
print("#", total, "samples; at most", round(worst, 3), "of the bound")
assert worst < 1
END

replay exact.db "$part"
is $? 0 'each cycle, a record'
like "$(cat err)" '749 samples in exact.db' 'and each is stored'
python3 exact.py exact.db "$part" --all
is $? 0 'the database has the Oracle, instruction by instruction'
cpi cat --check --db exact.db >out
like "$(cat out)" 'every profile decodes' 'it is whole'
for seed in 1 2 3; do
	rm -f random.db*
	replay random.db "$traces/rsd-median.tokens64.zst" --interval=101 --random \
		--seed=$((${SEED:-7} + seed))
	python3 within.py random.db "$traces/rsd-median.tokens64.zst" '[unknown procedure]'
	is $? 0 "random samples, one of 101, are within the interval ($seed)"
done
replay exact2.db "$traces/rsd-median.tokens64.zst"
python3 exact.py exact2.db "$traces/rsd-median.tokens64.zst" '[unknown procedure]'
is $? 0 'without the text of instructions, too'

# What it looks like.
cpi calc --db exact.db at_1010 >out
like "$(cat out)" '^Procedure at_1010 in konata-part.kanata.gz' 'a function has its address'
like "$(cat out)" '^Attribution: tip' 'calc says by what'
like "$(cat out)" '  0x1018  csrrw zero' 'instructions have the words of the trace'
cpi sum --db exact.db >out
like "$(cat out)" '^ *93.0  12.42%  Execution' 'sum: the cycle stack'
is "$(cpi sum --db exact.db --format=json | python3 -c '
import json, sys
s = json.load(sys.stdin)["cycle_stack"]
print(round(sum(s.values()), 3), s["mispredict"], s["load_stall"] > 0, s["store_stall"] > 0)')" \
	'749.0 15.0 True True' 'as JSON, by kind of instruction'
is "$(cpi prof --db exact.db --format=json | python3 -c '
import json, sys
print(json.load(sys.stdin)["attribution"])')" tip 'prof goes by weights where there are some'
cpi prof --db exact.db --attribution=raw >raw
like "$(cat raw)" '^Attribution: raw' 'or by counts'
like "$(cpi prof --db exact.db --by=image --attribution=tip 2>&1)" \
	'--attribution goes with --by=procedure and --by=line' 'of procedures'

is "$(cpi cat --db exact.db --weights --format=csv | awk -F, 'NR > 1 {
	for (i = 9; i <= NF; i++) sum[i] += $i } END { print NF, sum[9] / 840, sum[12] / 840 }')" \
	'14 93 15' 'cat has the weights as they are'

# Adding up, moving, rolling up.
cpi record --replay=r.tip -o exact2.db 2>/dev/null
cpi prof --db exact2.db --epoch=all >out
like "$(cat out)" '= 69918 ' 'two epochs add up'
cpi epoch --db exact.db export copy.db >/dev/null
python3 exact.py copy.db "$part" --all
is $? 0 'a copy has the same weights and words'
is "$(sqlite3 exact2.db 'SELECT count(*) FROM profile WHERE kind = 2')" 2 \
	'both epochs have weights'
cpi epoch --db exact2.db roll all >out 2>&1
cpi cat --check --db exact2.db >out 2>&1
is $? 0 'and rolled up they decode'

# What is no file of records.
cpi record --replay=r.tip -o x.db true 2>err
is $? 2 'no command beside'
echo nothing of that kind at all, and long enough >text
cpi record --replay=text -o x.db 2>err
like "$(cat err)" 'text: at byte 0: not in a format that CPI knows' 'another file is refused'
head -c 5000 r.tip >cut
cpi record --replay=cut -o x.db 2>err
like "$(cat err)" 'cut: at byte [0-9]*: the data ends too early' 'so is a part of one'
ok "$([ ! -e x.db ]; echo $?)" 'of which nothing is kept'
cpi record --replay=missing -o x.db 2>err
is $? 1 'a file that is not there'
cpi tip --records=no/where "$part" >/dev/null 2>err
like "$(cat err)" 'no/where: No such file' 'records that cannot be written'
cpi tip --records=gone text >/dev/null 2>err
ok "$([ ! -e gone ]; echo $?)" 'and none are left of what is no trace'
