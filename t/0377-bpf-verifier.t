#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs load, and use at most a tenth of what the verifier allows.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
[ -x "$builddir/t/bench/verified" ] || skip_all 'the BPF collector is not built'
plan 3

"$builddir/t/bench/verified" >out 2>&1
ok $? 'each program uses at most a tenth of the verifier'\''s limit'
sed 's/^/# /' out
like "$(cat out)" 'cpi_sample  *[1-9]' 'the verifier reports what cpi_sample uses'
ok "$(! grep -q BTF out; echo $?)" 'the kernel accepts their BTF, so that it verifies each function once'
