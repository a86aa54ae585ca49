#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU goes offline and comes back: sampling goes on, nothing is miscounted.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need taskset
switch=/sys/devices/system/cpu/cpu1/online
[ -w $switch ] && [ "$(cat $switch)" = 1 ] || skip_all 'CPU 1 cannot be taken offline here'

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
# Each sweep, where changes are noticed, is amid a flush.
collect_start -F 1000 --sweep 10s --flush 100ms
await_samples 500
set_online 0
try 'cpid notices that a CPU is gone' await 120 has_cpus $((nr - 1))
"$programs/burn_a" 200
gone=$(cpid_field received.cpu-clock)
await_samples $((gone + 500))
check_status 'with a CPU less'
# A program that begins on it before the daemon notices is known all the same.
set_online 1
taskset -c 1 "$programs/burn_c" 700 &
early=$!
try 'cpid notices that it is back' await 120 has_cpus "$nr"
wait $early
taskset -c 1 "$programs/burn_b" 200
back=$(cpid_field received.cpu-clock)
await_samples $((back + 1000))
check_status 'with the CPU back'
# Gone and back between two sweeps.
kill -STOP "$cpid_pid"
set_online 0
set_online 1
kill -CONT "$cpid_pid"
try 'cpid notices that it was gone' await 120 grep -q '1 of them went and came back' \
	t.log
taskset -c 1 "$programs/burn_a" 600
collect_stop
check_stored
is "$(sql "SELECT sum(received + not_delivered) * mean_period, sum(running_ns)
	FROM tally t JOIN stream s ON s.id = t.stream GROUP BY s.id
	HAVING abs(sum(received + not_delivered) * mean_period - sum(running_ns)) >
		mean_period + 100000 * (SELECT nr_cpus FROM platform)")" \
	'' 'received + not_delivered is the count of the event'
is "$(sql 'SELECT name FROM loss WHERE class = 1')" '' 'nothing is lost'
# 200 each, and of burn_a 600 at the end; a busy host delays some.
bound "$(samples burn_a '*/burn_a')" '>=' 300 \
	'what ran meanwhile was sampled, and on the CPU that had been gone'
bound "$(samples burn_b '*/burn_b')" '>=' 50 'the CPU that is back is sampled'
bound "$(samples burn_c '*/burn_c')" '>=' 50 'so is what began before that was noticed'
bound "$(sql "SELECT total(n) FROM loss WHERE name = 'no_process'")" '<=' 10 \
	'few samples are of processes that are not known'
