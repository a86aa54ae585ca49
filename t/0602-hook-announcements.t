#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Announcements to cpid: true ones are known already, false ones change nothing, a flood
# costs little, and the kernel tells who has sent them.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/hook.sh"

speaker=$builddir/t/announce_peer
socket=t.sock.announce
export CPI_ANNOUNCE="$tmp/$socket"

# count NAME...: the sum of these in the status; the names are regular expressions.
count()
{
	cpid_ask status >status.txt
	count_sum=0
	for count_name; do
		count_n=$(awk -v name="^$count_name\$" '$1 ~ name { n += $2 } END { print n + 0 }' \
			status.txt)
		count_sum=$((count_sum + count_n))
	done
	echo "$count_sum"
}

# reaches N NAME...: whether the sum of these is as much.
reaches()
{
	reaches_least=$1
	shift
	[ "$(count "$@")" -ge "$reaches_least" ]
}

plan 26
try 'cpid starts' cpid_start -e cpu-clock --collector perf
is "$(stat -c %a $socket)" 666 'every user may send announcements'
is "$(count announcements)" 0 'no announcement is counted at first'

# A program that lives until its announcement is received.
mkfifo in out
hooked "$programs/loader" wait "$loaded" 1 <in >out &
loader=$!
tap_pids="$tap_pids $loader"
exec 4>in 5<out
read -r _ <&5
try 'the announcement of a program is received' await reaches 1 announcements
# An object that is announced before its mapping record has been read is taken.
await reaches 3 stated.known stated.taken
ok $? 'each object that it has mapped is known or taken'
try 'some objects are known from the kernel' reaches 1 stated.known
is "$(count 'refused[.].*')" 0 'no object is refused'
grep -E '^(announcements|stated|refused)' status.txt | sed 's/^/# /'
echo go >&4
read -r _ <&5
try 'a library that it loads is announced' await reaches 2 announcements
is "$(count refused.malformed refused.not_mapped refused.stale refused.build_id)" 0 \
	'nothing that it announces is refused'
exec 4>&-
wait $loader
is $? 0 'the program ends in good order'

hooked "$programs/loader" threads "$loaded" 1000 >/dev/null
is $? 0 '8 threads load and unload 1000 times each'
# An object may be unloaded before cpid checks it.
is "$(count refused.malformed refused.build_id)" 0 'threads announce nothing that is malformed'

# Hostile announcements.
before=$(count refused.not_mapped refused.gone)
taken=$(count stated.taken)
try 'a process sends false announcements' "$speaker" forge $socket 20
await reaches 20 refused.malformed
is "$(count refused.malformed)" 20 'malformed announcements are refused'
is "$(($(count refused.not_mapped refused.gone) - before))" 20 'false announcements are refused'
is "$(count stated.taken)" "$taken" 'no false announcement is accepted'
if [ "$(id -u)" = 0 ]; then
	chmod 755 .
	try 'a process cannot send announcements for another' "$speaker" other $socket "$cpid_pid"
else
	skip 1 'only root can become nobody'
fi

resident()
{
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$cpid_pid/status"
}

cpid_ask flush >/dev/null
before=$(resident)
received=$(count received.cpu-clock)
try 'a process sends a flood of announcements' "$speaker" flood $socket 1000
try 'announcements beyond the ration of the process are refused' await reaches 1 refused.rate
grown=$(($(resident) - before))
echo "# $grown KiB more than before"
try 'cpid grows by less than 24 MiB in a flood of 32 MB' test $grown -lt 24576
try 'sampling goes on after the flood' await reaches $((received + 100)) received.cpu-clock

# cpid is stopped: the queue fills, programs go on.
kill -STOP "$cpid_pid"
is "$(hooked "$programs/loader" threads "$loaded" 1000)" fine 'programs do not wait for a stopped cpid'
kill -CONT "$cpid_pid"
is "$(hooked "$builddir/t/target" 7)" "$("$builddir/t/target" 7)" 'programs do not wait for a continued cpid'

cpid_ask quit >/dev/null
cpid_wait
is "$cpid_status" 0 'cpid stops'
try 'the socket is removed when cpid stops' test ! -e $socket
is "$(hooked "$builddir/t/target" 7)" "$("$builddir/t/target" 7)" 'programs run after cpid has stopped'
