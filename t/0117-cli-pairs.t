#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi pairs on traces of a few instructions. Their slots are counted by hand.
. "$srcdir/t/tap.sh"
plan 12

# op ID PC FETCH DISPATCH ISSUE COMPLETE RETIRE: one operation, in cycles.
op()
{
	printf 'O3PipeView:fetch:%d000:0x%s:0:%d: nop\n' "$3" "$2" "$1"
	printf 'O3PipeView:decode:%d000\nO3PipeView:rename:%d000\n' "$3" "$3"
	printf 'O3PipeView:dispatch:%d000\nO3PipeView:issue:%d000\n' "$4" "$5"
	printf 'O3PipeView:complete:%d000\nO3PipeView:retire:%d000\n' "$6" "$7"
}

# The first waits ten cycles alone. The second waits as long, while two others issue.
{
	op 1 10 100 101 101 110 111
	op 2 20 200 201 201 210 211
	op 3 30 200 201 202 203 211
	op 4 30 201 202 202 203 0
	op 5 30 202 203 205 206 212
} >o3.txt
cpi pairs --format=csv o3.txt >csv 2>err
is $? 0 'cpi pairs reads an O3PipeView trace'
is "$(cat err)" '' 'cpi pairs writes no warnings'
is "$(cut -d, -f1-7 csv)" 'pc,fetched,retired,latency,concurrency,useful,wasted
0x10,1,1,10,0.000000,0,20
0x20,1,1,10,0.200000,2,18
0x30,3,2,9,0.444444,4,14' 'cpi pairs counts the slots of an O3PipeView trace'
cpi pairs o3.txt >text
like "$(cat text)" '5 operations fetched, 2 issue slots a cycle' \
	'the text has the number of operations and the issue width'

# The same two as a Kanata log.
{
	printf 'Kanata\t0004\nC=\t0\nC\t100\n'
	printf 'I\t0\t0\t0\nL\t0\t0\t00000010: nop\n'
	printf 'C\t1\nS\t0\t0\tDs\nS\t0\t0\tIs\nC\t9\nS\t0\t0\tRw\nC\t1\nS\t0\t0\tCm\nR\t0\t0\t0\n'
	printf 'C\t89\nI\t1\t1\t0\nL\t1\t0\t00000020: nop\nI\t2\t2\t0\nL\t2\t0\t00000030: nop\n'
	printf 'C\t1\nS\t1\t0\tDs\nS\t1\t0\tIs\nS\t2\t0\tDs\nS\t2\t0\tIs\n'
	printf 'C\t1\nS\t2\t0\tRw\nC\t8\nS\t1\t0\tRw\n'
	printf 'C\t1\nS\t1\t0\tCm\nR\t1\t1\t0\nS\t2\t0\tCm\nR\t2\t2\t0\n'
} >kanata.txt
cpi pairs --format=csv kanata.txt >csv 2>err
is "$(cut -d, -f1-7 csv)" 'pc,fetched,retired,latency,concurrency,useful,wasted
0x10,1,1,10,0.000000,0,20
0x20,1,1,10,0.100000,1,19
0x30,1,1,2,0.500000,1,3' 'cpi pairs counts the slots of a Kanata log'

# A long loop is sampled; the exact concurrency stands beside the estimate.
awk 'BEGIN {
	for (i = 0; i < 20000; i++) {
		f = 100 + i
		printf "O3PipeView:fetch:%d000:0x%x:0:%d: nop\n", f, 4 * (i % 5), i + 1
		printf "O3PipeView:decode:%d000\nO3PipeView:rename:%d000\n", f, f
		printf "O3PipeView:dispatch:%d000\nO3PipeView:issue:%d000\n", f + 1, f + 2
		printf "O3PipeView:complete:%d000\n", f + 3 + i % 5 * 3
		printf "O3PipeView:retire:%d000\n", f + 30
	}
}' >loop.txt
cpi pairs --interval 10 --seed 3 --format=csv loop.txt >csv
ok "$(awk -F, 'NR > 1 { o = $9 - $5; if (o < 0) o = -o; if (o > .1) bad = 1 }
	END { print bad + (NR != 6) }' csv)" 'sampled concurrency is within 0.1 of the exact value'
cpi pairs --interval 10 --seed 3 --format=json loop.txt >json
like "$(cat json)" '"width": 1,' 'JSON has the issue width'
like "$(cat json)" '"error": 0\.[0-9]' 'JSON has the error of the estimates'

cpi pairs nosuch 2>err
is $? 1 'a missing file is an error'
printf 'nothing\n' >other
cpi pairs other 2>err
is $? 1 'a file that is no trace is an error'
like "$(cat err)" 'no pipeline trace: Kanata' 'the message names the known trace formats'
cpi pairs
is $? 2 'cpi pairs without a trace is a usage error'
