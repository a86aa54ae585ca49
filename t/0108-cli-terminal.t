#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Output on a terminal: colours, and rows that fit its width.
. "$srcdir/t/tap.sh"

script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
	skip_all "no script(1) to make a terminal with"
. "$srcdir/t/known.sh"
TERM=xterm
PAGER=
export TERM PAGER

# at COLUMNS COMMAND: the command's rows on a terminal of that width.
at()
{
	script -qec "stty cols $1; $2 2>err" /dev/null </dev/null | tr -d '\r'
}

plan 40

for width in 20 40 60 80 100 200 400; do
	at $width "cpi prof --epoch full" >out
	rows=$(sed '1,/^$/d; /^Lost/,$d' out)
	# tr leaves one byte of each letter of UTF-8, because awk counts bytes.
	is "$(printf '%s\n' "$rows" | tr -d '\200-\277' | awk -v w=$width 'length > w')" "" \
		"no row is wider than $width columns"
	is "$(printf '%s\n' "$rows" | wc -l | tr -d ' ')" 10 "no row is missing at $width columns"
done

at 50 "cpi prof --epoch full --event cpu-clock" >out
like "$(cat out)" '  \.\.\.[^ ]*/target' "a long path is cut and begins with dots"
unlike "$(cat out)" 'cum%' "a column is left out before names are cut short"
at 40 "cpi prof --epoch full --event cpu-clock" >out
like "$(cat out)" '\[unknown [a-z]*\.\.\. ' "a long name is cut and ends in dots"
at 80 "cpi diff full half --history=none" >out
like "$(cat out)" '^A ms/s  B ms/s .*  *change  procedure  *image' \
	"cpi diff shows names on 80 columns"
at 60 "cpi stalls --epoch full" >out
like "$(cat out)" '^stalled  *cycles  reason  *procedure  *instruction' \
	"cpi stalls keeps names rather than numbers on 60 columns"
at 100 "cpi list --epoch full target_hot" >out
like "$(cat out)" "$(printf '\033')\[1;31m *560 " "hot lines are coloured on a terminal"
at 100 "NO_COLOR=1 cpi list --epoch full target_hot" >out
unlike "$(cat out)" "$(printf '\033')" "NO_COLOR turns colours off"
at 100 "cpi cat --epoch full --format=csv --image '*red*'" >out
unlike "$(cat out)" "$(printf '\033')" "CSV on a terminal has no control characters"

paged="PAGER='sed s/^/paged:/' cpi list --epoch full target_hot"
at 100 "$paged" >out
like "$(cat out)" "^paged:.*$(printf '\033')\[1;31m *560 " \
	"a listing goes through the pager, in colour"
at 40 "$paged" >out
is "$(tr -d '\200-\277' <out | sed 's/^paged://' | grep -v ^Procedure |
	awk 'length > 80')" "" "behind a pager the rows keep to the terminal's width"
for format in gcov pprof; do
	at 80 "{ cpi export --epoch full --format=$format; echo status \$?; }" >out
	is "$(cat out)" "status 2" "cpi export --format=$format on a terminal is a wrong command"
	like "$(cat err)" "this format is binary: give -o FILE" "the message says what to do"
done
for report in prof 'prof --by image' hot stalls sum 'sum target_hot' \
	'diff full half' stats; do
	at 100 "PAGER='sed s/^/paged:/' cpi $report" >out
	like "$(cat out)" '^paged:' "cpi $report goes through the pager"
done
at 80 "cpi epoch list" >out
like "$(cat out)" '^ 1  2026-01-02T03:00:00Z  2026-01-02T03:01:00Z .* full$' \
	'cpi epoch list has whole times and labels on 80 columns'
at 100 "$paged --no-pager" >out
unlike "$(cat out)" "^paged:" "--no-pager leaves the pager out"
PAGER='sed s/^/paged:/' cpi list --epoch full target_hot >out
unlike "$(cat out)" "^paged:" "a file is not written through the pager"
at 100 "PAGER='head -n 1' cpi calc --epoch full target_hot; echo status \$?" >out
is "$(sed 1d out; cat err)" "status 0" "a pager that quits early is no error"
