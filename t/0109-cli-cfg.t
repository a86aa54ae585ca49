#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi cfg on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

plan 18

cpi cfg --epoch full target_hot >hot.dot 2>err
is "$?" 0 "cpi cfg finds a procedure by its name"
is "$(cat err)" "" "cpi cfg writes no warnings"
is "$(sed -n 1p hot.dot)" "digraph cfg {" "the output is a graph in the language of graphviz"
like "$(cat hot.dot)" 'label="target_hot\\l.*/target\\l' \
	"the graph has the procedure and its image as title"
is "$(grep -o '[0-9]* cpu-clock' hot.dot | awk '{ n += $1 } END { print n }')" 600 \
	"the samples of the blocks add up"
like "$(cat hot.dot)" 'b[0-9]* \[fillcolor="0.02 0.[1-9][0-9]* 1.0".*cpu-clock' \
	"the hot block is coloured"
like "$(cat hot.dot)" '≤[0-9.e+]* executions (90 %: [0-9.e+]* to [0-9.e+]*)\\l≥[0-9.]* CPI (90 %: [0-9.]* to [0-9.]*), best' \
	"a block has its executions and CPI with their intervals"
like "$(cat hot.dot)" '-> b[0-9]* \[color=blue, ' "the backward jump of the loop is drawn in blue"
like "$(cat hot.dot)" '-> b[0-9]* \[color=grey, ' "the return is drawn in grey"

# Every address of the listing is in the graph, but for padding.
cpi list --epoch full --format=csv --asm target_hot >hot.csv
missing=
for address in $(awk -F, 'NR > 1 && !/,"*nop/ { sub("^0x", "", $10); print $10 }' hot.csv); do
	grep -q "$address  " hot.dot || missing="$missing $address"
done
is "$missing" "" "every instruction of the listing is in the graph"

cpi cfg --epoch full do_syscall_64 >out 2>err
is "$?" 1 "cpi cfg fails on a procedure without code"
like "$(cat err)" "do_syscall_64: cannot be explained: the kernel's code" \
	"the message says that the kernel's code is missing"

cpi cfg --epoch full -o same.dot target_hot >out
is "$?" 0 "cpi cfg -o writes a file"
try "the file is what stdout would be" cmp hot.dot same.dot
is "$(cat out)" "" "cpi cfg -o prints nothing"

mkdir empty
PATH_WITHOUT=$tmp/empty
cpi=$(command -v cpi)
PATH=$PATH_WITHOUT "$cpi" cfg --epoch full --format=svg target_hot >out 2>err
is "$?" 1 "--format=svg fails without graphviz"
like "$(cat err)" "install graphviz" "the message says to install graphviz"

if command -v dot >/dev/null; then
	cpi cfg --epoch full --format=svg target_hot >hot.svg
	like "$(cat hot.svg)" "<svg" "graphviz draws the graph"
else
	skip 1 "graphviz is not installed"
fi
