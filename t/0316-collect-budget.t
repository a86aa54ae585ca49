#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A load with many events makes sampling cost more than its budget. The rate is lowered,
# and raised again when the load is over. All streams together have every sample.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 17))

# at_least NAME N: whether the status has that much there.
at_least()
{
	[ "$(cpid_field "$1")" -ge "$2" ]
}

rate_is_below() # HZ
{
	awk -v now="$(cpid_field rate_hz)" -v then="$1" 'BEGIN { exit !(now < then) }'
}

rate_is_above() # HZ
{
	awk -v now="$(cpid_field rate_hz)" -v then="$1" 'BEGIN { exit !(now > then) }'
}

event=page-faults
cpid_rate=
# Without windows, because translating code for them costs more than this budget for a
# moment. The budget is large compared to the work that this script causes the daemon.
cpid_start --db "$db" -e $event --collector $collector --budget 10% --check 200ms \
	--sweep 100ms --windows off || bail 'cpid does not start'
is "$(cpid_field rate_fixed)" 0 'the budget decides on the rate at first'

# On a busy machine the rate may be lowered before the load begins. So the rate and what
# was counted until then are of one status.
cpid_ask status >status.txt
quiet=$(sed -n 's/^rate_hz //p' status.txt)
changes=$(sed -n 's/^rate_changes //p' status.txt)
exceeded=$(sed -n 's/^budget_exceeded //p' status.txt)
mkfifo fault.out
"$programs/fault" >fault.out &
fault=$!
tap_pids="$tap_pids $fault"
exec 4<fault.out
read -r ready <&4
await rate_is_below "$quiet"
ok $? 'the rate is lowered under the load'
bound "$(cpid_field budget_exceeded)" '>' "$exceeded" 'a check found the cost above the budget'
bound "$(cpid_field rate_changes)" '>' "$changes" 'the status counts the change of the rate'
low=$(cpid_field rate_hz)
cpid_ask status >status.txt
grep -E '^(rate|budget|cost|interrupt|daemon_cost)' status.txt | sed 's/^/# /'
like "$(cat t.log)" 'the budget is 10 %: the rate is lowered' 'the log says why the rate is lowered'
kill -TERM $fault
read -r faults <&4
wait $fault
note "the program took $faults faults"

changes=$(cpid_field rate_changes)
await rate_is_above "$low"
ok $? 'the rate is raised again after the load'
check_status 'after changes of the rate'

cpid_ask rate 777
await at_least budget_checks $(($(cpid_field budget_checks) + 8))
is "$(cpid_field rate_hz) $(cpid_field rate_fixed)" '777.0 1' 'a fixed rate is not changed'
try 'the budget decides again after cpi rate budget' cpi rate budget --socket t.sock
await rate_is_above 777
ok $? 'the budget raises the rate that had been fixed'
collect_stop

bound "$(sql "SELECT count(*) FROM stream")" '>' 2 'changes of the rate begin new streams'
# A sample stands for a period of faults; the variance is that of Poisson's at most. The
# tenth is for faults before the first and after the last count.
sampled=$(sql "SELECT sum(c.n * s.mean_period) FROM comm c JOIN stream s ON s.id = c.stream
	WHERE c.comm = 'fault'")
sigma=$(sql "SELECT sqrt(sum(c.n * s.mean_period * s.mean_period)) FROM comm c
	JOIN stream s ON s.id = c.stream WHERE c.comm = 'fault'")
note "sigma $sigma"
bound "$sampled" '<=' "$(awk "BEGIN { print 1.1 * $faults + 4.5 * $sigma }")" \
	'the samples stand for no more faults than there were, within 4.5 sigma'
# No fault is sampled while the rate changes, which takes long under load.
bound "$sampled" '>=' "$(awk "BEGIN { print $faults / 3 - 4.5 * $sigma }")" \
	'the samples stand for at least a third of the faults, within 4.5 sigma'
check_stored

# If the user fixed the rate, cpid only warns of its cost, and only once.
cpid_rate='-F 4000'
cpid_start --db fixed.db -e cpu-clock --collector $collector --budget 0.01% --check 200ms \
	--sweep 100ms || bail 'cpid does not start'
has_warned()
{
	grep -q 'the budget is 0.01 %: the rate was fixed, and stays' t.log
}
await has_warned
ok $? 'cpid warns of a fixed rate whose cost is above the budget'
await at_least budget_exceeded $(($(cpid_field budget_exceeded) + 5))
is "$(grep -c 'the budget is 0.01 %: the rate was fixed' t.log)" 1 'the warning is printed once'
is "$(cpid_field rate_hz) $(cpid_field rate_changes)" '4000.0 0' 'the fixed rate above the budget is not changed'
