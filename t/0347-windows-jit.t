#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Windows in code that is made, moved and written anew while it runs: each went where
# single steps go, or ended before.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
stepped=$builddir/t/window_stepped
[ -x "$stepped" ] || skip_all 'windows are not built in'
"$stepped" "$builddir/t/stepper.so" 997 true >one 2>err ||
	skip_all "no windows here: $(tail -n 1 err)"
plan 16

# follow COMMAND...: its windows, in one.txt.
follow()
{
	"$stepped" "$builddir/t/stepper.so" 997 "$@" >out.txt 2>err
	follow_status=$?
	grep -a '^[^ ]*: compared' out.txt >one.txt
	sed 's/^/# /' one.txt
	rm -f jit-*.dump isolate-*.log
}

# field NAME: of the last
field()
{
	awk -v field="$1" '{ for (i = 2; i < NF; i++) if ($i == field) n += $(i + 1) }
		END { print n + 0 }' one.txt
}

follow "$programs/rewritten" 200 40
is "$(field wrong)" 0 'code that is written anew: each went where the program went'
bound "$(field compared)" '>=' 200 'they were compared'
bound "$(field length)" '>=' 100 'it is followed'
bound "$(field changed)" '>=' 1 'windows end where it has changed'

follow "$programs/rewritten" -n 60 5
is "$(field wrong)" 0 'code that nobody tells of: none went astray'
is "$(field length)" 0 'nor was any followed'

if command -v node >/dev/null; then
	follow node --perf-prof "$srcdir/t/programs/jit.js" 1500
	is "$(field wrong)" 0 'node: each went where the program went'
	bound "$(field compared)" '>=' 10 'they were compared'
else
	skip 2 'there is no node'
fi

# As cpid stores them: the two procedures were at one address, one after the other.
collect_start --windows 499
[ "$(cpid_field windows)" = on ] || bail "windows are off: $(tail -n 1 t.log)"
run 'a program with a jitdump runs' "$programs/jit" -d 2000 win_a win_b
rm -f jit-*.dump
cpid_ask status >status.txt
is "$(status_sum status.txt windows_received)" \
	"$(($(status_sum status.txt windows_stored) +
		$(status_sum status.txt windows_lost.)))" 'received = stored + lost'
collect_stop
try 'the database is whole' cpi cat --check --db $db
cpi cat --edges --db $db --format=csv >edges.csv

# loop NAME OFFSET: how often the jump at its end was taken; OFFSET from its start. Such
# numbers are texts, for awk's have 53 bits.
loop()
{
	start=$(sql "SELECT start FROM symbol WHERE name = '$1'")
	awk -F, -v from="$(printf '0x%x' $((start + $2 + 3)))" \
		-v to="$(printf '0x%x' $((start + $2)))" \
		'$1 == "branch" && $3 "" == from "" && $4 "" == to "" { n += $5 } END { print n + 0 }' \
		edges.csv
}
bound "$(loop win_a 0)" '>=' 1000 'the first was followed'
bound "$(loop win_b 64)" '>=' 1000 'and the second, where the first had been'
is "$(loop win_a 64)" 0 'the first has no loop of the second'
is "$(loop win_b 0)" 0 'nor the second one of the first'
