#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid is killed at random moments while it flushes all the time, and started again on
# the same database. Each flush that was stored is there exactly once, and each missing
# time is a gap. KILLS=50 kills more often.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
kills=${KILLS:-10}
plan $((nr_stored_tests + 10))

"$programs/split" >/dev/null &
tap_pids="$tap_pids $!"
seed=${SEED:-1}
note "SEED=$seed"
moments=$(awk -v seed="$seed" -v n="$kills" 'BEGIN {
	srand(seed)
	while (n--)
		printf "%d %.3f\n", 2 + 8 * rand(), 0.05 * rand()
}')

has_flushes()
{
	[ "$(sql "SELECT count(*) FROM flush WHERE run = (SELECT max(id) FROM run)")" -ge "$1" ]
}

damaged=0
: >seen
printf '%s\n' "$moments" >moments
while read -r flushes moment <&5; do
	collect_start -F 500 --flush 50ms --sweep 20ms
	await has_flushes "$flushes" || bail 'cpid does not flush'
	sql 'SELECT * FROM flush' >>seen
	sleep "$moment" # a random moment within a flush; nothing waits for it
	kill -KILL "$cpid_pid"
	cpid_wait
	[ "$(sql 'PRAGMA integrity_check')" = ok ] || damaged=$((damaged + 1))
done 5<moments
is "$damaged" 0 'the database is whole after each kill'

collect_start -F 500 --flush 50ms --sweep 20ms
await has_flushes 3
collect_stop
check_stored

is "$(sql 'SELECT count(*) FROM run WHERE state = 2')" "$kills" 'the database knows that all runs but the last were killed'
sort -u seen >seen.once
sql 'SELECT * FROM flush' | sort >stored
is "$(comm -23 seen.once stored)" '' 'no stored flush is lost or changed'
bound "$(wc -l <seen.once)" '>=' $((2 * kills)) 'enough flushes were seen before the kills'
is "$(sql 'SELECT sum(total) FROM profile WHERE kind = 0 AND context = 0')" \
	"$(sql 'SELECT sum(stored) FROM flush')" 'the profiles add up to what the flushes stored'
is "$(sql 'SELECT count(*) FROM gap')" "$kills" 'each kill leaves a gap'
is "$(sql 'SELECT g.* FROM gap g WHERE NOT EXISTS (SELECT 1 FROM run a JOIN run b
	ON b.id = a.id + 1 WHERE a.to_ns = g.from_ns AND b.from_ns = g.to_ns)')" '' \
	'a gap reaches from the last flush to the next start'
is "$(cpi status --all --db t.db --socket none.sock 2>/dev/null | sed -n 's/^gaps *//p')" "$kills" \
	'cpi status shows the gaps'
is "$(cpi prof --db t.db --epoch all 2>/dev/null | grep -c '^Gap: ')" "$kills" 'cpi prof shows the gaps'
