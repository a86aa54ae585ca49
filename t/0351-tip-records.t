#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TIP records of a trace are stored in a database, whose reports attribute cycles as the
# Oracle does.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to read JSON'
command -v sqlite3 >/dev/null || skip_all 'sqlite3 is missing'
plan 43

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

# compare HOW DB TRACE PROCEDURE: t/tip_database.py
compare()
{
	python3 "$srcdir/t/tip_database.py" "$@"
}

replay exact.db "$part"
is $? 0 'a record of each cycle is stored'
like "$(cat err)" '749 samples in exact.db' 'cpi record says that each record is stored'
compare exact exact.db "$part" --all
is $? 0 'each instruction has the cycles of the Oracle'
cpi cat --check --db exact.db >out
like "$(cat out)" 'every profile decodes' 'every profile decodes'
for seed in 1 2 3; do
	rm -f random.db*
	replay random.db "$traces/rsd-median.tokens64.zst" --interval=101 --random \
		--seed=$((${SEED:-7} + seed))
	compare within random.db "$traces/rsd-median.tokens64.zst" '[unknown procedure]'
	is $? 0 "random samples, one of 101 cycles, agree with the Oracle, seed $seed"
done
replay exact2.db "$traces/rsd-median.tokens64.zst"
compare exact exact2.db "$traces/rsd-median.tokens64.zst" '[unknown procedure]'
is $? 0 'each instruction has the cycles of the Oracle if the trace has no text'

# Text and JSON.
cpi calc --db exact.db at_1010 >out
like "$(cat out)" '^Procedure at_1010 in konata-part.kanata.gz' 'cpi calc names a function by its address'
like "$(cat out)" '^Attribution: tip' 'cpi calc names the attribution'
like "$(cat out)" '  0x1018  csrrw zero' 'cpi calc has the text of instructions from the trace'
cpi sum --db exact.db >out
like "$(cat out)" '^ *93.0  12.42%  Execution' 'cpi sum has the cycle stack'
is "$(cpi sum --db exact.db --format=json | python3 -c '
import json, sys
s = json.load(sys.stdin)["cycle_stack"]
print(round(sum(s.values()), 3), s["mispredict"], s["load_stall"] > 0, s["store_stall"] > 0)')" \
	'749.0 15.0 True True' 'the JSON of cpi sum has stalls by kind of instruction'
is "$(cpi prof --db exact.db --format=json | python3 -c '
import json, sys
print(json.load(sys.stdin)["attribution"])')" tip 'cpi prof attributes by weights if there are some'
cpi prof --db exact.db --attribution=raw >raw
like "$(cat raw)" '^Attribution: raw' 'cpi prof attributes by counts if it is told to'
like "$(cpi prof --db exact.db --by=image --attribution=tip 2>&1)" \
	'--attribution goes with --by=procedure and --by=line' 'cpi prof --by=image refuses --attribution'

is "$(cpi cat --db exact.db --weights --format=csv | awk -F, 'NR > 1 {
	for (i = 9; i <= NF; i++) sum[i] += $i } END { print NF, sum[9] / 840, sum[12] / 840 }')" \
	'14 93 15' 'cpi cat prints the stored weights'

# Several epochs, exports and roll-ups.
cpi record --replay=r.tip -o exact2.db 2>/dev/null
cpi prof -v --db exact2.db --epoch=all >out
like "$(cat out)" 'by 69918 samples of cycles' 'the cycles of two epochs add up'
cpi epoch --db exact.db export copy.db >/dev/null
compare exact copy.db "$part" --all
is $? 0 'an exported copy has the same weights and texts'
is "$(sqlite3 exact2.db 'SELECT count(*) FROM profile WHERE kind = 2')" 2 \
	'both epochs have weights'
cpi epoch --db exact2.db roll all >out 2>&1
cpi cat --check --db exact2.db >out 2>&1
is $? 0 'every profile decodes after a roll-up'

# Files that are no records.
cpi record --replay=r.tip -o x.db true 2>err
is $? 2 '--replay with a command is a usage error'
for option in -a -v -g -d1 -F100 -ecpu-clock -w10 -woff --stacks-freq=9 --stacks-copy=4096 \
	--by=comm --by-process=sh --raw=raw; do
	cpi record --replay=r.tip $option -o x.db 2>err
	is "$? $(grep -c 'goes with --program' err)" '2 1' "--replay refuses $option"
done
echo nothing of that kind at all, and long enough >text
cpi record --replay=text -o x.db 2>err
like "$(cat err)" 'text: at byte 0: not in a format that CPI knows' 'a text is refused as a file of records'
head -c 5000 r.tip >cut
cpi record --replay=cut -o x.db 2>err
like "$(cat err)" 'cut: at byte [0-9]*: the data ends too early' 'a cut file of records is refused'
ok "$([ ! -e x.db ]; echo $?)" 'a cut file of records leaves no database'
cpi record --replay=missing -o x.db 2>err
is $? 1 'a missing file of records is an error'
cpi tip --records=no/where "$part" >/dev/null 2>err
like "$(cat err)" 'no/where: No such file' 'records that cannot be written are an error'
cpi tip --records=gone text >/dev/null 2>err
ok "$([ ! -e gone ]; echo $?)" 'no file of records is left if the trace is none'
echo older >older
head -c 1000 "$traces/rsd-towers.tokens64.zst" >cut.zst
cpi tip --records=older cut.zst >/dev/null 2>err
is "$? $(cat older)" '1 older' 'older records are kept if the trace ends too early'
cp "$part" own.gz
cpi tip --records=own.gz own.gz >/dev/null 2>err
cpi record --replay=own.gz -o own.db 2>err
like "$(cat err)" '749 samples in own.db' 'a trace is read before its records take its place'
