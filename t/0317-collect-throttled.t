#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# While the kernel throttles an event, its samples are counted as not delivered.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/alone.sh"
limit=/proc/sys/kernel/perf_event_max_sample_rate
alone $limit
before=$(cat $limit)
{ echo "$before" >$limit; } 2>/dev/null || skip_all "$limit may not be changed"
[ "$before" -ge 25000 ] || skip_all "$limit allows no 20000 samples/s"
[ $event = cpu-clock ] || skip_all 'only a clock says for how long it was throttled'
plan 12
trap 'echo "$before" >$limit; tap_end' EXIT

# Three tenths of a second, of all CPUs together.
is_throttled()
{
	awk -v s="$(cpid_field throttled_s.cpu-clock)" 'BEGIN { exit !(s > 0.3) }'
}

for hz in 5000 10000 20000; do
	db=$hz.db
	collect_start -F $hz --windows off
	await_samples 1000
	echo $((hz / 2)) >$limit # fewer per tick than come
	await is_throttled
	ok $? "$hz Hz: the status has for how long the event was throttled"
	echo "$before" >$limit
	cpid_ask status >status.txt
	collect_stop
	# The kernel counts both by the same clock. A part of a sample may be left over.
	is "$(sql "SELECT s.id, sum(received + not_delivered) * mean_period, sum(enabled_ns)
		FROM tally t JOIN stream s ON s.id = t.stream AND t.kind = 0 GROUP BY s.id
		HAVING abs(sum(received + not_delivered) * mean_period - sum(enabled_ns)) >
			mean_period + 100000 * (SELECT nr_cpus FROM platform)")" \
		'' "$hz Hz: received + not_delivered equals the count of the event"
	bound "$(sql 'SELECT sum(throttled) FROM tally WHERE kind = 0')" '>' 0 \
		"$hz Hz: the database counts the throttling"
	note "received $(sql 'SELECT sum(received) FROM tally WHERE kind = 0'), not delivered" \
		"$(sql 'SELECT sum(not_delivered) FROM tally WHERE kind = 0')," \
		"$(grep '^throttled' status.txt | tr '\n' ' ')"
done
