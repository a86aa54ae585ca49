#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Small programs that wait for one known thing: that culprit is named first, at the right
# instruction. On Sapphire Rapids all are right in most runs, and one may be wrong by
# chance. Other cores have other latencies, and their timers land elsewhere: three of four
# must be right.
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
is "$(grep -cE '^(not )?ok ' said)" "$kernels" 'every program is judged'
bound "$(grep -c '^ok ' said)" '>=' $wanted 'enough programs have their culprit named first'
