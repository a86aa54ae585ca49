#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How wrong profilers are about recorded pipelines, to the digit (MICRO'21).
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to read JSON'
plan 23

traces=$srcdir/t/fixtures/tip

# errors FILE: cycles, then the errors of instructions in tenths of a percent.
errors()
{
	cpi tip --format=json "$@" | python3 -c '
import json, sys
t = json.load(sys.stdin)
e = t["errors"]["instruction"]
print(t["cycles"], *("%.1f" % (100 * e[k]) if e[k] is not None else "-" for k in (
    "TIP", "TIP-ILP", "NCI", "LCI", "LCI-last", "Dispatch", "Software")))'
}
is "$(errors "$traces/rsd-towers.tokens64.zst")" '12043 0.0 7.6 7.9 38.7 45.0 - -' 'towers'
is "$(errors "$traces/rsd-median.tokens64.zst")" '34959 0.0 5.9 6.9 36.1 43.3 - -' 'median'

cpi tip --format=json "$traces/rsd-towers.tokens64.zst" >t.json
python3 - "$traces/rsd-towers.oracle.csv" <<'END'
import json, sys
t = json.load(open("t.json"))
got = {int(r["pc"], 16): r["oracle"] * t["cycles"] for r in t["profile"]}
want = {int(p, 16): float(n) for p, n in (l.split(";") for l in open(sys.argv[1]))}
assert got.keys() == want.keys()
assert all(abs(got[p] - want[p]) < 1e-6 for p in want)
assert abs(sum(t["states"].values()) - 1) < 1e-9
assert t["errors"]["block"]["NCI"] is None
END
is $? 0 'the Oracle is as another program has it, PC by PC'

# Sampling: on average the Oracle's, each profiler its own.
python3 - "$traces/rsd-median.tokens64.zst" <<'END'
import json, statistics, subprocess, sys
def tip(*options):
    return json.loads(subprocess.check_output(
        ["cpi", "tip", "--format=json", *options, sys.argv[1]]))
exact = tip()
hot = max(exact["profile"], key=lambda r: r["oracle"])
n = 40
share = []
for seed in range(n):
    t = tip("--interval=101", "--random", f"--seed={seed}")
    assert abs(t["samples"] - exact["cycles"] / 101) <= 1
    share += [r["tip"] for r in t["profile"] if r["pc"] == hot["pc"]]
mean, error = statistics.mean(share), statistics.stdev(share) / n ** .5
print("# oracle", hot["oracle"], "TIP", mean, "+-", error)
assert abs(mean - hot["oracle"]) < 4 * error
END
is $? 0 'TIP at random cycles has no bias'

cpi tip --limit 2 "$traces/rsd-median.tokens64.zst" >out
like "$(cat out)" ': 34959 cycles, 26779 instructions committed (0.766 each cycle)' 'text: what it is'
like "$(cat out)" ' 54.75%  stalled' 'in which states'
like "$(cat out)" '^instruction  *0.00%  *5.94%  *6.86%  *17.99%  *36.11%  *43.30% *$' 'errors'
is "$(grep -c '^0x' out)" 2 'and the rows that were asked for'
is "$(cpi tip --format=csv "$traces/rsd-median.tokens64.zst" | head -n 1)" \
	'pc,oracle,tip,tip_ilp,nci,nci_ilp,lci,lci_last,dispatch,software' 'CSV: every policy'

# The picture, with names that are not XML's.
cp "$traces/konata-part.kanata.gz" 'a<&>"b'
cpi tip --format=svg --limit=5 'a<&>"b' >p.svg
is "$(python3 - p.svg <<'END'
import sys, xml.etree.ElementTree as E
t = E.parse(sys.argv[1]).getroot()
ns = "{http://www.w3.org/2000/svg}"
texts = [e.text for e in t.iter(ns + "text")]
bars = [e for e in t.iter(ns + "rect") if e.find(ns + "title") is not None]
print(t.get("viewBox") is not None, texts[0], len(bars), bars[-1].find(ns + "title").text)
print(sum(s.startswith("0x") for s in texts), "script" in E.tostring(t).decode())
END
)" 'True a<&>"b 53 Software: 4.54%
5 False' 'SVG: a bar for each profiler of each level and row'

# The same lines with the ends that Windows writes, packed with zstd, a line cut off.
gzip -dc "$traces/konata-part.kanata.gz" >lines
cpi tip - <lines | sed 1d >want
sed 's/$/\r/' lines >crlf
cpi tip crlf | sed 1d >got
is "$(cat got)" "$(cat want)" 'CRLF ends lines, too'
if command -v zstd >/dev/null; then
	zstd -q lines -o lines.zst
	cpi tip lines.zst | sed 1d >got
	is "$(cat got)" "$(cat want)" 'zstd or gzip'
else
	skip 1 'no zstd'
fi
printf 'Kanata\t0004\nC=\t-1\nC\t1\nI\n' >short
cpi tip short 2>err
like "$(cat err)" 'short: line 4: not in a format' 'a line with too few fields is named'
printf 'Kanata\t0004\nI\t18446744073709551615\t0\t0\nI\t99999999999999999999\t0\t0\n' >huge
cpi tip huge 2>err
like "$(cat err)" 'huge: line 3: not in a format' 'a number beyond 64 bits is none'

# gem5, with lines of other debug flags between, and operations without a store.
cat >o3 <<'END'
O3PipeView:fetch:1000:0x00401000:0:1:  MOV_R_M : ld   eax, DS:[rbx]
O3PipeView:decode:1500
O3PipeView:rename:2000
O3PipeView:dispatch:2500
O3PipeView:issue:2500
O3PipeView:complete:4000
   1500: system.cpu.fetch: [tid:0] Squashing
O3PipeView:retire:5000:store:0
O3PipeView:fetch:1000:0x00401004:0:2:  ADD_R_I : addi   eax, eax, 0x1
O3PipeView:decode:1500
O3PipeView:rename:2000
O3PipeView:dispatch:2500
O3PipeView:issue:4000
O3PipeView:complete:4500
O3PipeView:retire:5500
END
is "$(cpi tip --format=json o3 | python3 -c '
import json, sys
t = json.load(sys.stdin)
print(t["cycles"], t["commits"], [r["oracle"] for r in t["profile"]])')" '2 2 [0.5, 0.5]' \
	'O3PipeView among other lines'
echo 'O3PipeView:what' >>o3
cpi tip o3 2>err
like "$(cat err)" 'o3: line 16: not in a format' 'but not with broken ones'

# What is no trace, or the half of one.
zstd -dcq "$traces/rsd-towers.tokens64.zst" 2>/dev/null >whole || cp "$traces/rsd-towers.tokens64.zst" whole
cpi tip whole >plain.txt
cpi tip - <whole >stdin.txt
sed 1d plain.txt >a && sed 1d stdin.txt >b
is "$(cat a)" "$(cat b)" 'a trace comes from standard input, too'
head -c 1000 "$traces/rsd-towers.tokens64.zst" >cut.zst
cpi tip cut.zst 2>err
is $? 1 'a packed file that ends early fails'
like "$(cat err)" 'cut.zst: .*: the data ends too early' 'and says so'
echo 'no trace at all' >text
cpi tip text 2>err
like "$(cat err)" 'text: no pipeline trace: Kanata, O3PipeView' 'another file is none'
printf 'Kanata\t0004\nC\t1\nS\t7\t0\tCm\n' >bad
cpi tip bad 2>err
like "$(cat err)" 'bad: line 3: not in a format that CPI knows' 'a wrong line is named'
printf 'Kanata\t0004\nC\t1\n' >none
cpi tip none 2>err
like "$(cat err)" 'none: no instruction commits in it' 'one without commits is'
: >empty
cpi tip empty 2>err
is $? 1 'and an empty one'
