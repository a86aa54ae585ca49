#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A load that makes many events makes sampling dearer than its budget: the rate is
# lowered, and raised again when the load is over. All streams together have every
# sample.
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
# Without windows, whose learning costs for a moment what is asked of samples here. The
# budget is large beside what this script's own processes make the daemon do.
cpid_start --db "$db" -e $event --collector $collector --budget 10% --check 200ms \
	--sweep 100ms --windows off || bail 'cpid does not start'
is "$(cpid_field rate_fixed)" 0 'the budget chooses the rate'

quiet=$(cpid_field rate_hz)
changes=$(cpid_field rate_changes)
exceeded=$(cpid_field budget_exceeded)
mkfifo fault.out
"$programs/fault" >fault.out &
fault=$!
tap_pids="$tap_pids $fault"
exec 4<fault.out
read -r ready <&4
await 60 rate_is_below "$quiet"
ok $? 'under the load the rate is lowered'
bound "$(cpid_field budget_exceeded)" '>' "$exceeded" 'a check had found it above the budget'
bound "$(cpid_field rate_changes)" '>' "$changes" 'the change is counted'
low=$(cpid_field rate_hz)
cpid_ask status >status.txt
grep -E '^(rate|budget|cost|interrupt|daemon_cost)' status.txt | sed 's/^/# /'
like "$(cat t.log)" 'the budget is 10 %: the rate is lowered' 'the log says why'
kill -TERM $fault
read -r faults <&4
wait $fault
note "the program took $faults faults"

changes=$(cpid_field rate_changes)
await 100 rate_is_above "$low"
ok $? 'without it the rate is raised again'
check_status 'after the changes'

cpid_ask rate 777
await 60 at_least budget_checks $(($(cpid_field budget_checks) + 8))
is "$(cpid_field rate_hz) $(cpid_field rate_fixed)" '777.0 1' 'a rate that was fixed stays'
try 'the budget may have it back' cpi rate budget --socket t.sock
await 100 rate_is_above 777
ok $? 'and raises it from there'
collect_stop

bound "$(sql "SELECT count(*) FROM stream")" '>' 2 'changes began streams'
# Nothing is counted while the rate changes, which under load takes its time.
sampled=$(sql "SELECT sum(c.n * s.mean_period) FROM comm c JOIN stream s ON s.id = c.stream
	WHERE c.comm = 'fault'")
bound "$sampled" '<=' "$((faults * 11 / 10))" 'its samples stand for its faults'
bound "$sampled" '>=' "$((faults / 3))" 'or what was left of them'
check_stored

# Where somebody chose the rate, its cost is told of, once.
cpid_rate='-F 4000'
cpid_start --db fixed.db -e cpu-clock --collector $collector --budget 0.01% --check 200ms \
	--sweep 100ms || bail 'cpid does not start'
has_warned()
{
	grep -q 'the budget is 0.01 %: the rate was fixed, and stays' t.log
}
await 60 has_warned
ok $? 'a fixed rate above the budget is told of'
await 60 at_least budget_exceeded $(($(cpid_field budget_exceeded) + 5))
is "$(grep -c 'the budget is 0.01 %: the rate was fixed' t.log)" 1 'once'
is "$(cpid_field rate_hz) $(cpid_field rate_changes)" '4000.0 0' 'and it stays'
