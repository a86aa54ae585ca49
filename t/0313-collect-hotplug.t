#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU goes offline and comes back. Sampling goes on, and every sample is counted.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/alone.sh"
need taskset
switch=/sys/devices/system/cpu/cpu1/online
[ -w $switch ] && alone $switch && [ "$(cat $switch)" = 1 ] || skip_all 'CPU 1 cannot be taken offline here'

# set_online 0|1
set_online()
{
	echo "$1" 2>/dev/null >$switch
}
bring_back()
{
	set_online 1
	tap_end
}
trap bring_back EXIT
set_online 0 || skip_all 'CPU 1 cannot be taken offline here'
set_online 1
plan $((nr_stored_tests + 12))

has_cpus()
{
	[ "$(cpid_field cpus)" = "$1" ]
}

nr=$(getconf _NPROCESSORS_ONLN)
# Changes are noticed at sweeps. Here each sweep is amid a flush.
collect_start -F 1000 --sweep 10s --flush 100ms
await_samples 500
set_online 0
try 'cpid notices that a CPU is offline' await has_cpus $((nr - 1))
"$programs/burn_a" 200
gone=$(cpid_field received.cpu-clock)
await_samples $((gone + 500))
check_status 'with one CPU offline'
# A program that starts there before the daemon notices is sampled nevertheless.
set_online 1
taskset -c 1 "$programs/burn_c" 700 &
early=$!
try 'cpid notices that the CPU is online again' await has_cpus "$nr"
wait $early
taskset -c 1 "$programs/burn_b" 200
back=$(cpid_field received.cpu-clock)
await_samples $((back + 1000))
check_status 'with the CPU online again'
# Offline and online between two sweeps.
kill -STOP "$cpid_pid"
set_online 0
set_online 1
kill -CONT "$cpid_pid"
try 'cpid notices that the CPU was offline between two sweeps' await grep -q '1 of them went and came back' \
	t.log
taskset -c 1 "$programs/burn_a" 600
collect_stop
check_stored
is "$(sql "SELECT sum(received + not_delivered) * mean_period, sum(running_ns)
	FROM tally t JOIN stream s ON s.id = t.stream AND t.kind = 0 GROUP BY s.id
	HAVING abs(sum(received + not_delivered) * mean_period - sum(running_ns)) >
		mean_period + 100000 * (SELECT nr_cpus FROM platform)")" \
	'' 'received + not_delivered equals the count of the event'
is "$(sql 'SELECT name FROM loss WHERE kind = 0 AND class = 1')" '' 'no sample is lost'
# burn_a should have 800, burn_b 200 and burn_c up to 700. A busy host delays some; these
# bounds are 10 sigma and more away.
bound "$(samples burn_a '*/burn_a')" '>=' 300 \
	'a program is sampled while a CPU is offline and after it has come back'
bound "$(samples burn_b '*/burn_b')" '>=' 50 'a program on the CPU that came back is sampled'
bound "$(samples burn_c '*/burn_c')" '>=' 50 'a program that started before cpid noticed the CPU is sampled'
bound "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND name = 'no_process'")" '<=' 10 \
	'at most 10 samples are of unknown processes'
