#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Output on a terminal: colours, and rows that fit its width.
. "$srcdir/t/tap.sh"

script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
	skip_all "no script(1) to make a terminal with"
. "$srcdir/t/known.sh"
TERM=xterm
export TERM

# at COLUMNS COMMAND: the command's rows on a terminal of that width.
at()
{
	script -qec "stty cols $1; $2 2>err" /dev/null </dev/null | tr -d '\r'
}

plan 18

for width in 20 40 60 80 100 200 400; do
	at $width "cpi prof --epoch full" >out
	rows=$(sed '1,/^$/d; /^Lost/,$d' out)
	is "$(printf '%s\n' "$rows" | awk -v w=$width 'length > w')" "" \
		"no row is wider than $width columns"
	is "$(printf '%s\n' "$rows" | wc -l | tr -d ' ')" 10 "and every row is there"
done

at 60 "cpi prof --epoch full --event cpu-clock" >out
like "$(cat out)" '\[unknown [a-z]*\.\.\. ' "a long name ends in dots"
at 100 "cpi list --epoch full target_hot" >out
like "$(cat out)" "$(printf '\033')\[1;31m *560 " "hot lines are coloured"
at 100 "NO_COLOR=1 cpi list --epoch full target_hot" >out
unlike "$(cat out)" "$(printf '\033')" "but not with NO_COLOR"
at 100 "cpi cat --epoch full --format=csv --image '*red*'" >out
unlike "$(cat out)" "$(printf '\033')" "CSV does not steer a terminal, either"
