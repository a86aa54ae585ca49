#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Windows in code that is made, moved and rewritten while it runs: each goes where single
# steps go, or ends before.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/windows.sh"
need_stepped
plan 17

# follow_jit COMMAND...: its windows are compared in one.txt.
follow_jit()
{
	follow_stepped "$@"
	rm -f jit-*.dump isolate-*.log
}

# field NAME: of the last command
field()
{
	stepped_sum "$1" one.txt
}

follow_jit "$programs/rewritten" 200 40
is "$(field wrong)" 0 'rewritten code: each window goes where the program goes'
bound "$(field compared)" '>=' 200 'rewritten code: enough windows were compared'
bound "$(field length)" '>=' 100 'rewritten code: windows reach their full length'
bound "$(field changed)" '>=' 1 'rewritten code: windows end where the code has changed'

follow_jit "$programs/rewritten" -n 60 5
is "$(field wrong)" 0 'unannounced code: no window goes astray'
area=$(sed -n 's/^area: //p' stepped.out)
like "$area" '^0x[0-9a-f]*000$' 'unannounced code: its address is known'
# Those of the program's own code and of libraries may.
is "$(grep -ac "^full: ${area%???}...\$" stepped.out)" 0 \
	'unannounced code: no window of it reaches its full length'

if command -v node >/dev/null; then
	follow_jit node --perf-prof "$srcdir/t/programs/jit.js" 1500
	is "$(field wrong)" 0 'node: each window goes where the program goes'
	bound "$(field compared)" '>=' 10 'node: enough windows were compared'
else
	skip 2 'there is no node'
fi

# As cpid stores them. The two procedures are at one address, one after the other.
collect_start --windows 499
[ "$(cpid_field windows)" = on ] || bail "windows are off: $(tail -n 1 t.log)"
run 'a program with a jitdump runs' "$programs/jit" -d 2000 win_a win_b
rm -f jit-*.dump
cpid_ask status >status.txt
is "$(status_sum status.txt windows_received)" \
	"$(($(status_sum status.txt windows_stored) +
		$(status_sum status.txt windows_lost.)))" 'windows: received = stored + lost'
collect_stop
try 'every profile decodes' cpi cat --check --db $db
cpi cat --edges --db $db --format=csv >edges.csv

# loop NAME OFFSET: how often the jump at its end was taken; OFFSET from its start. Such
# numbers are compared as text, because those of awk have 53 bits.
loop()
{
	start=$(sql "SELECT start FROM symbol WHERE name = '$1'")
	awk -F, -v from="$(printf '0x%x' $((start + $2 + 3)))" \
		-v to="$(printf '0x%x' $((start + $2)))" \
		'$1 == "branch" && $3 "" == from "" && $4 "" == to "" { n += $5 } END { print n + 0 }' \
		edges.csv
}
bound "$(loop win_a 0)" '>=' 1000 'the loop of the first procedure was followed'
bound "$(loop win_b 64)" '>=' 1000 'the loop of the second procedure was followed at the same address'
is "$(loop win_a 64)" 0 'the first procedure has no jumps of the second'
is "$(loop win_b 0)" 0 'the second procedure has no jumps of the first'
