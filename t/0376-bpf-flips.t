#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tables of all CPUs are swapped a thousand times a second while samples are taken. No
# sample is lost or counted twice, whichever way the daemon waits for running programs.
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

flips 'each run of the BPF program is counted as exactly one sample' -r 1000 -s 5
flips 'each run is exactly one sample with the grace period of the kernel' -g -r 1000 -s 3
