#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Without privileges cpid names the missing privilege, and cpi record samples the command
# that it starts. With the four capabilities of cpid(8) cpid samples everything.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need setpriv
[ "$(id -u)" -eq 0 ] || skip_all 'becoming another user takes root'
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ] ||
	skip_all 'kernel.perf_event_paranoid is not 2'
chmod 755 . && mkdir theirs && chown nobody theirs
# The other user runs these, so they must not be below a folder that only root may enter.
mkdir bin
for program in daemon/cpid tools/cpi helpers/cpi-capture helpers/cpi-unwind helpers/cpi-translate \
	t/programs/spawn t/programs/burn_a t/programs/burn_b t/programs/burn_c; do
	[ ! -x "$builddir/$program" ] || cp "$builddir/$program" bin
done
chmod 755 bin bin/*
programs=$PWD/bin
PATH=$programs:$PATH
plan $((nr_stored_tests + 19))

nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups --bounding-set=-all --inh-caps=-all"
cd theirs || exit 1

timeout 300 $nobody "$programs/cpid" --db t.db --socket t.sock -e cpu-clock -F 500 2>err
is $? 1 'cpid fails without privileges'
is "$(grep -c 'error:' err)" 1 'it prints one error'
like "$(cat err)" perf_event_paranoid 'the error names the sysctl'
like "$(cat err)" CAP_PERFMON 'the error names the capability'
try 'cpid without privileges leaves no socket' test ! -e t.sock
rm -f t.db*

# One process tree is sampled: spawn and its children. The other program is not.
"$programs/burn_c" 20000 &
other=$!
$nobody cpi record -e cpu-clock -F 1000 -o t.db -- \
	"$programs/spawn" 40 2 25 "$programs/burn_a" "$programs/burn_b" >cpu_ms 2>err
is $? 0 'cpi record works without privileges'
kill $other
unlike "$(cat err)" 'error\|warning' 'cpi record has nothing to complain about'
event=cpu-clock:u
check_stored
is "$(sql 'SELECT event FROM stream')" $event 'the event is of user mode'
bound "$(samples 'burn_a' '*/burn_a')" '>=' 100 'children of the command are sampled'
is "$(strangers)" '' 'no sample is attributed to another program'
is "$(samples '*' '*/burn_c')" 0 'a program of another user is not sampled'
share_at_most "$(samples '*' '[[]unknown]')" \
	"$(sql 'SELECT sum(received) FROM tally WHERE kind = 0')" 0.05 \
	'at most 5 % of the samples have no image'
rm -f t.db*
$nobody cpi record -e cpu-clock:k -F 1000 -o t.db -- "$programs/burn_a" 20 >out 2>err
is $? 1 'cpi record of the kernel alone fails without privileges'
like "$(cat err)" 'cpu-clock:k: .*perf_event_paranoid' 'the error names the event and the sysctl'
rm -f t.db*

# The whole system, with the capabilities alone.
nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups"
for set in inh-caps ambient-caps; do
	nobody="$nobody --$set=-all,+perfmon,+sys_ptrace,+dac_read_search,+syslog"
done
$nobody "$programs/cpid" --db t.db --socket t.sock --log t.log -e cpu-clock -F 500 &
cpid_pid=$!
tap_pids="$tap_pids $cpid_pid"
try 'cpid samples with capabilities alone' await cpid_ask status
"$programs/burn_b" 500
# The kernel's work: pages to clear, for half a second.
timeout 0.5 sh -c 'while :; do head -c 100000000 /dev/zero | tail -c 1; done' >zeros
kill -TERM $cpid_pid
wait $cpid_pid
is $? 0 'cpid with capabilities stops in good order'
bound "$(samples burn_b '*/burn_b')" '>=' 50 'a program of another user is sampled'
bound "$(samples '*' '[[]kernel]')" '>' 0 'the kernel is sampled'
is "$(sql "SELECT name FROM loss WHERE kind = 0 AND name LIKE 'kernel_%'")" '' 'no sample has a hidden kernel address'
