#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi cfg on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

plan 14

cpi cfg --epoch full target_hot >hot.dot 2>err
is "$?" 0 "a procedure by its name"
is "$(cat err)" "" "without complaints"
is "$(sed -n 1p hot.dot)" "digraph cfg {" "a graph"
like "$(cat hot.dot)" 'label="target_hot\\l.*/target\\l' "with a title"
is "$(grep -o '[0-9]* cpu-clock' hot.dot | awk '{ n += $1 } END { print n }')" 600 \
	"the samples add up"
like "$(cat hot.dot)" 'b[0-9]* \[fillcolor="0.02 0.[1-9][0-9]* 1.0".*cpu-clock' \
	"the hot block is coloured"
like "$(cat hot.dot)" '-> b[0-9]* \[color=blue, ' "with a loop's jump"
like "$(cat hot.dot)" '-> b[0-9]* \[color=grey, ' "and a return"

# Every address of the listing is in the graph, but for padding.
cpi list --epoch full --format=csv --asm target_hot >hot.csv
missing=
for address in $(awk -F, 'NR > 1 && !/,"*nop/ { sub("^0x", "", $10); print $10 }' hot.csv); do
	grep -q "$address  " hot.dot || missing="$missing $address"
done
is "$missing" "" "every instruction is there"

cpi cfg --epoch full do_syscall_64 >out 2>err
is "$?" 1 "a procedure without code fails"
like "$(cat err)" "do_syscall_64: cannot be explained: the kernel's code" "and says why"

mkdir empty
PATH_WITHOUT=$tmp/empty
cpi=$(command -v cpi)
PATH=$PATH_WITHOUT "$cpi" cfg --epoch full --format=svg target_hot >out 2>err
is "$?" 1 "without graphviz there is no picture"
like "$(cat err)" "install graphviz" "which is said"

if command -v dot >/dev/null; then
	cpi cfg --epoch full --format=svg target_hot >hot.svg
	like "$(cat hot.svg)" "<svg" "graphviz draws it"
else
	skip 1 "graphviz is not installed"
fi
