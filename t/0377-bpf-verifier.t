#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs load, and are a tenth at most of what the verifier goes through.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
[ -x "$builddir/t/bench/verified" ] || skip_all 'the BPF collector is not built'
plan 2

"$builddir/t/bench/verified" >out 2>&1
ok $? 'the verifier is far from its limit'
sed 's/^/# /' out
like "$(cat out)" 'cpi_sample  *[1-9]' 'it said how far'
