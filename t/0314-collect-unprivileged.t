#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Without privileges: cpid says what is missing, cpi record samples what it starts.
# With the four capabilities of cpid(8), cpid samples everything.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need setpriv
[ "$(id -u)" -eq 0 ] || skip_all 'becoming another user takes root'
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ] ||
	skip_all 'kernel.perf_event_paranoid is not 2'
chmod 755 . && mkdir theirs && chown nobody theirs
setpriv --reuid=nobody --clear-groups test -x "$builddir/daemon/cpid" -a -x "$programs/burn_a" ||
	skip_all "nobody may not run what is in $builddir"
plan $((nr_stored_tests + 17))

nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups --bounding-set=-all --inh-caps=-all"
cd theirs || exit 1

timeout 60 $nobody "$builddir/daemon/cpid" --db t.db --socket t.sock -e cpu-clock -F 500 2>err
is $? 1 'cpid fails without privileges'
is "$(grep -c 'error:' err)" 1 'with one error'
like "$(cat err)" perf_event_paranoid 'that names the sysctl'
like "$(cat err)" CAP_PERFMON 'and the capability'
try 'it leaves no socket' test ! -e t.sock
rm -f t.db*

# One process tree: spawn, and what it starts; the other program is not sampled.
"$programs/burn_c" 20000 &
other=$!
$nobody cpi record -e cpu-clock -F 1000 -o t.db -- \
	"$programs/spawn" 40 2 25 "$programs/burn_a" "$programs/burn_b" >cpu_ms 2>err
is $? 0 'cpi record works without privileges'
kill $other
like "$(cat err)" 'only .*spawn and what it starts' 'it says what it samples'
event=cpu-clock:u
check_stored
is "$(sql 'SELECT event FROM stream')" $event 'it is user mode'
bound "$(samples 'burn_a' '*/burn_a')" '>=' 100 'what the command starts is sampled'
is "$(strangers)" '' 'no sample is of another program'
is "$(samples '*' '*/burn_c')" 0 'nobody else is sampled'
bound "$(samples '*' '[[]unknown]')" '<=' "$(sql 'SELECT sum(received) / 20.0 FROM tally')" \
	'unknown: 5 % at most'
rm -f t.db*

# The whole system, with the capabilities alone.
nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups"
for set in inh-caps ambient-caps; do
	nobody="$nobody --$set=-all,+perfmon,+sys_ptrace,+dac_read_search,+syslog"
done
$nobody "$builddir/daemon/cpid" --db t.db --socket t.sock --log t.log -e cpu-clock -F 500 &
cpid_pid=$!
tap_pids="$tap_pids $cpid_pid"
try 'cpid works with capabilities alone' await 120 cpid_ask status
"$programs/burn_b" 500
# The kernel's work: pages to clear, for half a second.
timeout 0.5 sh -c 'while :; do head -c 100000000 /dev/zero | tail -c 1; done' >zeros
kill -TERM $cpid_pid
wait $cpid_pid
is $? 0 'it stops'
bound "$(samples burn_b '*/burn_b')" '>=' 50 'programs of others are sampled'
bound "$(samples '*' '[[]kernel]')" '>' 0 'so is the kernel, with its addresses'
is "$(sql "SELECT name FROM loss WHERE name LIKE 'kernel_%'")" '' 'no kernel address is hidden'
