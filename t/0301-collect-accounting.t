#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every sample is somewhere: received = stored + unknown + lost, and what the
# event's own count promised beyond that is not_delivered.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 9))

hz=1000
collect_start -F $hz --flush 60ms --sweep 20ms
"$programs/spawn" 40 2 50 "$programs/burn_a" "$programs/burn_b" >/dev/null &
await_samples 1000
check_status 'while it samples'
cpid_ask epoch second >/dev/null
check_status 'in a new epoch'
head -c 8000000 /dev/urandom | gzip >random.gz
wait $!
cpid_ask flush >/dev/null
check_status 'after a flush'
try 'cpi status shows the same' test "$(cpi status --db t.db --socket t.sock |
	sed -n 's/^received.cpu-clock *//p')" -ge "$(status_sum status.txt received.)"
collect_stop
check_stored

is "$(sql 'SELECT count(*) FROM epoch')" 2 'both epochs are there'
# The event counts ns: samples that came and that did not are all it counted, but for
# a part of one, however many flushes there are. The two clocks agree within 0.1 ms.
is "$(sql "SELECT s.id, sum(received + not_delivered) * mean_period, sum(running_ns)
	FROM tally t JOIN stream s ON s.id = t.stream GROUP BY s.id
	HAVING abs(sum(received + not_delivered) * mean_period - sum(running_ns)) >
		mean_period + 100000 * (SELECT nr_cpus FROM platform)")" \
	'' 'received + not_delivered is the count of the event'
# The periods are drawn anew ten times a second and CPU, in pairs whose mean is
# exact. A restart loses 0 to 1 period (variance 1/12); at most one pair per CPU is
# not complete: a tenth of a second at a rate off by up to 1/8 (variance of a
# uniform: a third of the square). Delayed timers only make it larger.
sigma=$(sql "SELECT sqrt(10 * sum(running_ns) / 1e9 / 12 +
	(SELECT nr_cpus FROM platform) * pow($hz * 0.1 / 8, 2) / 3) FROM tally")
note "sigma $sigma, received $(sql 'SELECT sum(received) FROM tally')"
bound "$(sql 'SELECT sum(not_delivered) FROM tally')" '>=' "$(awk "BEGIN { print -3 * $sigma }")" \
	'no more samples came than the event counted, within 3 sigma'
is "$(sql 'SELECT name FROM loss WHERE class = 1')" '' 'nothing is lost'
