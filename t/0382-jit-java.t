#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Java writes its map when it exits. Its samples wait for that.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need java javac
options='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'
# shellcheck disable=SC2086
java $options -version >/dev/null 2>&1 || skip_all 'this java has no DumpPerfMapAtExit'
plan $((nr_stored_tests + 5))

javac -d . "$srcdir/t/programs/Jit.java" || bail 'javac fails'
collect_start -F 1000 --sweep 500ms
# shellcheck disable=SC2086
run 'java runs' java $options -cp . Jit 3000
try 'java writes a map' test -s "/tmp/perf-${run_pids# }.map"
collect_stop
check_stored
forget_maps

named=$(cpi prof --db "$db" --image '[[]jit:java]' --procedure '*fibonacci*' --format=csv |
	awk -F, 'NR > 1 { n += $1 } END { print n + 0 }')
bound "$named" '>=' "$(($(samples java '*') / 3))" 'a third of the samples have the name of the method'
share_at_most "$(samples java '[[]unknown]')" "$named" 0.1 \
	'few samples are of code that was removed before the exit'
