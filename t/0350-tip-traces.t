#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi tip computes the errors of profilers on recorded pipelines exactly (MICRO'21).
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to read JSON'
plan 26

traces=$srcdir/t/fixtures/tip

# check WHAT FILE...: t/tip_trace.py
check()
{
	python3 "$srcdir/t/tip_trace.py" "$@"
}
is "$(check errors "$traces/rsd-towers.tokens64.zst")" '12043 0.0 7.6 7.9 38.7 45.0 - -' 'the errors for the trace of towers are right'
is "$(check errors "$traces/rsd-median.tokens64.zst")" '34959 0.0 5.9 6.9 36.1 43.3 - -' 'the errors for the trace of median are right'

cpi tip --format=json "$traces/rsd-towers.tokens64.zst" >t.json
check oracle t.json "$traces/rsd-towers.oracle.csv"
is $? 0 'the Oracle of each PC is what another program computed'

check bias "$traces/rsd-median.tokens64.zst"
is $? 0 'TIP at random cycles has no bias'

cpi tip --limit 2 "$traces/rsd-median.tokens64.zst" >out
like "$(cat out)" ': 34959 cycles, 26779 instructions committed (0.766 each cycle)' 'the text has cycles and instructions'
like "$(cat out)" ' 54.75%  stalled' 'the text has the states of the pipeline'
like "$(cat out)" '^instruction  *0.00%  *5.94%  *6.86%  *17.99%  *36.11%  *43.30% *$' 'the text has the errors'
is "$(grep -c '^0x' out)" 2 'the text has as many rows as --limit allows'
is "$(cpi tip --format=csv "$traces/rsd-median.tokens64.zst" | head -n 1)" \
	'pc,oracle,tip,tip_ilp,nci,nci_ilp,lci,lci_last,dispatch,software' 'CSV has a column for each policy'

# The picture of a file whose name has special characters of XML.
cp "$traces/konata-part.kanata.gz" 'a<&>"b'
cpi tip --format=svg --limit=5 'a<&>"b' >p.svg
is "$(check picture p.svg)" 'True a<&>"b 53 Software: 4.54%
5 False' 'SVG has a bar for each profiler of each level and row'

# The same lines ended by CR and LF, compressed by zstd, and with a cut line.
gzip -dc "$traces/konata-part.kanata.gz" >lines
cpi tip - <lines | sed 1d >want
sed 's/$/\r/' lines >crlf
cpi tip crlf | sed 1d >got
is "$(cat got)" "$(cat want)" 'lines may end with CR and LF'
if command -v zstd >/dev/null; then
	zstd -q lines -o lines.zst
	cpi tip lines.zst | sed 1d >got
	is "$(cat got)" "$(cat want)" 'a trace may be compressed by zstd'
else
	skip 1 'no zstd'
fi
printf 'Kanata\t0004\nC=\t-1\nC\t1\nI\n' >short
cpi tip short 2>err
like "$(cat err)" 'short: line 4: not in a format' 'the error names a line with too few fields'
printf 'Kanata\t0004\nI\t18446744073709551615\t0\t0\nI\t99999999999999999999\t0\t0\n' >huge
cpi tip huge 2>err
like "$(cat err)" 'huge: line 3: not in a format' 'the error names a line with a number beyond 64 bits'

# gem5, with lines of other debug flags in between, and operations without a store.
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
	'lines of O3PipeView are found among other lines'
echo 'O3PipeView:what' >>o3
cpi tip o3 2>err
like "$(cat err)" 'o3: line 16: not in a format' 'the error names a broken line of O3PipeView'

# Files that are not traces, and parts of traces.
zstd -dcq "$traces/rsd-towers.tokens64.zst" 2>/dev/null >whole || cp "$traces/rsd-towers.tokens64.zst" whole
cpi tip whole >plain.txt
cpi tip - <whole >stdin.txt
sed 1d plain.txt >a && sed 1d stdin.txt >b
is "$(cat a)" "$(cat b)" 'a trace may come from standard input'
head -c 1000 "$traces/rsd-towers.tokens64.zst" >cut.zst
cpi tip cut.zst 2>err
is $? 1 'a cut compressed file is an error'
like "$(cat err)" 'cut.zst: the data ends too early' 'the error says that the data ends too early'
echo 'no trace at all' >text
cpi tip text 2>err
like "$(cat err)" 'text: no pipeline trace: Kanata, O3PipeView' 'the error says that a text is no pipeline trace'
printf 'Kanata\t0004\nC\t1\nS\t7\t0\tCm\n' >bad
cpi tip bad 2>err
like "$(cat err)" 'bad: line 3: not in a format that CPI knows' 'the error names a line with an unknown stage'
printf 'Kanata\t0004\nC\t1\n' >none
cpi tip none 2>err
like "$(cat err)" 'none: no instruction commits in it' 'a trace without commits is an error'
: >empty
cpi tip empty 2>err
is $? 1 'an empty file is an error'
{
	printf 'Kanata\t0004\n'
	head -c 70000 /dev/zero | tr '\0' x
} >long
cpi tip long 2>err
like "$(cat err)" 'long: line 2: not in a format' 'the error names a line that is too long'
head -c 1000 whole >cut
cpi tip cut 2>err
like "$(cat err)" 'cut: record 16: the data ends too early' 'the error names the record that is cut'

# A frame of one byte, with a window of 1 GB, as zstd --long=30 writes.
printf '\050\265\057\375\000\240\011\000\000x' >wide.zst
cpi tip wide.zst 2>err
like "$(cat err)" 'wide.zst: a limit was reached' 'a frame whose window is too wide is not called damaged'
