#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thousand flips a second while all CPUs are sampled: no sample is lost or counted
# twice, whichever way the daemon waits for programs that run.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
[ -x "$builddir/t/bench/flips" ] || skip_all 'the BPF collector is not built'
plan 2

# flips NAME OPTION...
flips()
{
	flips_name=$1
	shift
	"$builddir/t/bench/flips" "$@" >out 2>&1
	flips_status=$?
	sed 's/^/# /' out
	ok $flips_status "$flips_name"
}

flips 'each run of the program is one sample' -r 1000 -s 10
flips 'also with the grace period of the kernel' -g -r 1000 -s 4
