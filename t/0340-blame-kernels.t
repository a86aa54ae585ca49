#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels that wait for one known thing: it is blamed first, at the right instruction.
# On the core that this was written on all are right, and one of them may fall to chance.
# Others have other latencies, and timers that land elsewhere: three of four.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3
plan 2

kernels=$("$programs/stall" | wc -l)
core=$(awk -F': ' '/^cpu family/ { f = $2 } /^model\t/ { print f, $2; exit }' /proc/cpuinfo)
case $core in
'6 143') wanted=$((kernels - 1)) ;; # Sapphire Rapids
*) wanted=$((kernels * 3 / 4)) ;;
esac
"$srcdir/t/accuracy/culprits" --tools "$builddir" --ms 1000 >said 2>&1
sed 's/^/# /' said
is "$(grep -cE '^(not )?ok ' said)" "$kernels" 'every kernel is judged'
bound "$(grep -c '^ok ' said)" '>=' $wanted 'the culprit is named first'
