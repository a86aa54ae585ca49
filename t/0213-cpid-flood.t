#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A user that sends requests without pause is answered, costs little CPU time, and delays
# no other user.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
[ "$(id -u)" = 0 ] || skip_all 'only root becomes another user'
plan 10
seconds=5
chmod 755 .

# ask_beside PID: asks for the status twice a second until the process ends. Sets $asked,
# and $slow to the number of requests that took longer than a second.
ask_beside()
{
	asked=0 slow=0
	while kill -0 "$1" 2>/dev/null; do
		asked=$((asked + 1))
		sleep 0.5
		timeout 1 "$peer" request t.sock status >status.txt || slow=$((slow + 1))
	done
}

cpid_start || bail 'cpid does not start'
chmod 666 t.sock
# The cost of sampling and of root's requests, which depends on the load of the machine.
before=$(cpid_field cpu_s)
sleep $seconds &
ask_beside $!
alone=$(echo "$before $(cpid_field cpu_s)" | awk '{ print $2 - $1 }')
for op in status register; do
	before=$(cpid_field cpu_s)
	# Two processes, because each waits for its replies.
	"$peer" flood t.sock $op $seconds 65534 >flood.1 &
	flood_1=$!
	"$peer" flood t.sock $op $seconds 65534 >flood.2 &
	flood_2=$!
	tap_pids="$tap_pids $flood_1 $flood_2"
	ask_beside $flood_1
	wait $flood_1
	is $? 0 "$op: no request of the user is refused"
	wait $flood_2
	after=$(cpid_field cpu_s)
	cost=$(echo "$before $after" | awk '{ print $2 - $1 }')
	note "$op: answered $(cat flood.1) + $(cat flood.2), $cost s of CPU in $seconds s," \
		"$alone s without the user; root asked $asked times"
	# Of both: nothing says how the user's share is divided among his processes.
	bound "$(awk '{ n += $1 } END { print n }' flood.1 flood.2)" '>' 20 \
		"$op: the user gets more than 20 answers"
	is $slow 0 "$op: every request of root is answered within a second"
	# A user may take 1 % and, at the beginning, 0.1 s. Half of what cpid takes alone is
	# for the load of other programs, which is not the same in both intervals.
	bound "$cost" '<=' "$(echo "$alone $seconds" | awk '{ print 1.5 * $1 + 0.01 * $2 + 0.1 }')" \
		"$op: the user costs at most 1 % of a CPU and 0.1 s"
done
is "$(cpid_ask status | grep -c '^main_waits_s')" 0 'the status is answered by the main thread'
cpid_ask quit
cpid_wait
is "$cpid_status" 0 'cpid exits with 0'
