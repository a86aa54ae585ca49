#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every sample is accounted for: received = stored + unknown + lost. The event's own count
# is received + not_delivered.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 9))

hz=1000
collect_start -F $hz --flush 60ms --sweep 20ms
"$programs/spawn" 40 2 50 "$programs/burn_a" "$programs/burn_b" >/dev/null &
await_samples 1000
check_status 'while cpid samples'
cpid_ask epoch second >/dev/null
check_status 'in a new epoch'
head -c 8000000 /dev/urandom | gzip >random.gz
wait $!
cpid_ask flush >/dev/null
check_status 'after a flush'
try 'cpi status shows no fewer received samples than the daemon did before' test "$(cpi status --all --db t.db --socket t.sock |
	sed -n 's/^received.cpu-clock *//p')" -ge "$(status_sum status.txt received.)"
collect_stop
check_stored

is "$(sql 'SELECT count(*) FROM epoch')" 2 'the database has both epochs'
# The event counts ns. Samples that came and samples that did not are all that it counted,
# except for a part of one, however many flushes there are. The two clocks agree within
# 0.1 ms.
is "$(sql "SELECT s.id, sum(received + not_delivered) * mean_period, sum(running_ns)
	FROM tally t JOIN stream s ON s.id = t.stream AND t.kind = 0 GROUP BY s.id
	HAVING abs(sum(received + not_delivered) * mean_period - sum(running_ns)) >
		mean_period + 100000 * (SELECT nr_cpus FROM platform)")" \
	'' 'received + not_delivered equals the count of the event'
# The periods are drawn anew ten times a second and CPU, in pairs whose mean is
# exact. A restart loses 0 to 1 period (variance 1/12); at most one pair per CPU is
# not complete: a tenth of a second at a rate off by up to 1/8 (variance of a
# uniform: a third of the square). Delayed timers only make it larger. By chance alone
# the bound fails once in 30,000 runs.
sigma=$(sql "SELECT sqrt(10 * sum(running_ns) / 1e9 / 12 +
	(SELECT nr_cpus FROM platform) * pow($hz * 0.1 / 8, 2) / 3) FROM tally WHERE kind = 0")
note "sigma $sigma, received $(sql 'SELECT sum(received) FROM tally WHERE kind = 0')"
bound "$(sql 'SELECT sum(not_delivered) FROM tally WHERE kind = 0')" '>=' "$(awk "BEGIN { print -4 * $sigma }")" \
	'no more samples came than the event counted, within 4 sigma'
is "$(sql 'SELECT name FROM loss WHERE kind = 0 AND class = 1')" '' 'no sample is lost'
