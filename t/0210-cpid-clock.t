#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A clock that is wrong for a moment removes no epoch, and impossible times are not stored.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 13

day=86400
step()
{
	printf '%s\n' "$1" >clock.new
	mv clock.new clock
}
start()
{
	export LD_PRELOAD="$builddir/t/clock.so" CPI_TEST_CLOCK="$tmp/clock"
	ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS-}"
	export ASAN_OPTIONS
	collect_start -F 100 --sweep 100ms --flush 200ms --epoch 1s "$@"
	unset LD_PRELOAD
}
# has_flushes N CONDITION
has_flushes()
{
	[ "$(sql "SELECT count(*) FROM flush WHERE $2")" -ge "$1" ]
}
now()
{
	date +%s000000000
}
# await_flushes N CONDITION: retention reads the clock after each flush.
await_flushes()
{
	await has_flushes "$1" "$2" || bail "no $1 flushes where $2"
}

step 0
start --retain hourly:7d,daily:90d
await_flushes 5 1
first=$(sql 'SELECT min(id) FROM epoch')
ahead=$(($(now) + 99 * day * 1000000000))
step $((100 * day))
await_flushes 10 "to_ns > $ahead"
is "$(cpid_field retain_epochs_removed)" 0 'a clock that is 100 days ahead removes nothing'
bound "$(cpid_field retain_clock_wait_s)" '>' $((2 * day)) \
	'the status says how long retention waits'
is "$(sql 'SELECT min(id) FROM epoch')" "$first" 'the first epoch is still there'
like "$(cat t.log)" 'clock is 2400.* hours ahead.*set the clock if it is wrong' \
	'the log says that the clock is ahead'
is "$(grep -c 'hours ahead' t.log)" 1 'the log says once that the clock is ahead'
step 0
right=$(sql 'SELECT max(seq) FROM flush')
await_flushes 5 "seq > $right AND to_ns < $ahead"
is "$(cpid_field retain_epochs_removed)" 0 'a clock that was ahead removes nothing'
is "$(cpid_field retain_clock_wait_s)" '' 'a corrected clock ends the wait'
for wrong in 9000000000 -1700000000 -9000000000; do
	step $wrong
	seq=$(sql 'SELECT max(seq) FROM flush')
	await_flushes 3 "seq > $seq"
done
like "$(cat t.log)" 'clock: it is before 2020 or after 2200' \
	'the log says that the clock is before 2020 or after 2200'
step 0
seq=$(sql 'SELECT max(seq) FROM flush')
await_flushes 3 "seq > $seq"
is "$(sql "SELECT count(*) FROM (SELECT from_ns AS f, to_ns AS t FROM flush UNION ALL
	SELECT from_ns, to_ns FROM epoch UNION ALL SELECT from_ns, to_ns FROM run
	UNION ALL SELECT from_ns, to_ns FROM gap)
	WHERE f NOT BETWEEN 1577836800000000000 AND 7258118400000000000 OR t < f
	OR t > 7258118400000000000")" 0 'no time in the database is before 2020 or after 2200'
is "$(cpid_field retain_epochs_removed)" 0 'no epoch was removed'
collect_stop
is "$(sql 'SELECT sum(received) FROM tally WHERE kind = 0')" "$(sql 'SELECT sum(received) FROM flush')" \
	'received samples of epochs = received samples of flushes'
try 'cpi cat --check finds no damage' cpi cat --check --db $db
