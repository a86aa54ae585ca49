#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels that wait for one known thing: it is blamed first, at the right instruction.
# On the cores that this was written on all are right. Others have other latencies, and
# timers that land elsewhere: three of four.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3
plan 2

kernels=$("$programs/stall" | wc -l)
"$srcdir/t/accuracy/culprits" --tools "$builddir" --ms 1000 >said 2>&1
sed 's/^/# /' said
is "$(grep -cE '^(not )?ok ' said)" "$kernels" 'every kernel is judged'
bound "$(grep -c '^ok ' said)" '>=' $((kernels * 3 / 4)) 'the culprit is named first'
