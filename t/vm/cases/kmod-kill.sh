# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon is killed amid its work: the device is free again, what was stored is
# there once, and what was not is a gap.
# needs: module
# long: arm64
. /cpi/case.sh

sql()
{
	sqlite3 -readonly t.db "$1"
}

module_load
for _ in 1 2; do
	cpid_start --collector kmod --flush 100ms --sweep 50ms -F 1000 ||
		fail 'cpid does not start'
	await_samples 200
	kill -KILL "$cpid_pid"
	cpid_wait
done
cpid_start --collector kmod --sweep 200ms -F 1000 || fail 'cpid does not start again'
await_samples 200
rmmod cpi 2>/dev/null && fail 'the module goes while cpid uses it'
cpid_ask rate 400 >/dev/null || fail 'the rate cannot be changed'
await_samples 500
cpid_ask flush >/dev/null
check_accounting
cpid_stop
module_unload

check_that 'two runs have died' "$(sql 'SELECT count(*) FROM run WHERE state = 2') == 2"
check_that 'each left a gap' "$(sql 'SELECT count(*) FROM gap') == 2"
check 'a gap is from the last flush to the next start' test -z "$(sql 'SELECT g.* FROM gap g
	WHERE NOT EXISTS (SELECT 1 FROM run a JOIN run b ON b.id = a.id + 1
	WHERE a.to_ns = g.from_ns AND b.from_ns = g.to_ns)')"
check 'received = stored + unknown + lost' test -z "$(sql 'SELECT t.* FROM tally t
	WHERE received <> stored + (SELECT total(n) FROM loss l
	WHERE l.epoch = t.epoch AND l.kind = t.kind AND l.stream = t.stream)')"
check 'the profiles hold what was stored' test \
	"$(sql 'SELECT sum(total) FROM profile WHERE kind = 0 AND context = 0')" = \
	"$(sql 'SELECT sum(stored) FROM flush')"
check 'the database is whole' cpi cat --db t.db --check
