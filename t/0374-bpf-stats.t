#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The status has the time of a run of the BPF program while the kernel measures it.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/alone.sh"
stats=/proc/sys/kernel/bpf_stats_enabled
[ -w $stats ] || skip_all 'kernel.bpf_stats_enabled cannot be set here'
plan 5

alone $stats
before=$(cat $stats)
trap 'echo "$before" >$stats; tap_end' EXIT
has_run()
{
	nr=$(cpid_field handler_runs.cpu-clock)
	[ "${nr:-0}" -ge 100 ]
}

echo 0 >$stats
collect_start -F 1000
await_samples 100
is "$(cpid_field handler_ns.cpu-clock)" '' 'the status has no time that was not measured'
echo 1 >$stats
await has_run
echo "$before" >$stats
bound "$(cpid_field handler_ns.cpu-clock)" '>=' 5 'a run takes at least 5 ns'
bound "$(cpid_field handler_ns.cpu-clock)" '<=' 1000000 'a run takes at most 1 ms on the mean'
cpi status --socket t.sock --db t.db --format=prometheus >metrics
like "$(cat metrics)" 'cpi_handler_seconds{stream="cpu-clock"} *' 'the metrics have the time of a run'
collect_stop
