#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What cpid makes of statements: true ones are known already, false ones change
# nothing, a flood costs little, and who speaks is for the kernel to say.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"

hook=$builddir/loader-hook/libcpi-audit.so
programs=$builddir/t/programs
loaded=$programs/loaded.so
speaker=$builddir/t/announce_peer
socket=t.sock.announce
export CPI_ANNOUNCE="$tmp/$socket"

hooked()
{
	env LD_AUDIT="$hook" "$@"
}

# count NAME...: the sum of these in the status.
count()
{
	cpid_ask status >status.txt
	count_sum=0
	for count_name; do
		count_n=$(sed -n "s/^$count_name //p" status.txt)
		count_sum=$((count_sum + ${count_n:-0}))
	done
	echo "$count_sum"
}

reached()
{
	[ "$(count "$1")" -ge "$2" ]
}

# await NAME N: until the status says so.
await()
{
	await_end=$(($(date +%s) + 30))
	until reached "$@"; do
		[ "$(date +%s)" -lt $await_end ] || return 1
	done
}

plan 25
try 'cpid starts' cpid_start -e cpu-clock --collector perf
is "$(stat -c %a $socket)" 666 'everybody may speak'
is "$(count announcements)" 0 'nobody has'

# A program that lives until it was heard.
mkfifo in out
hooked "$programs/loader" wait "$loaded" 1 <in >out &
loader=$!
tap_pids="$tap_pids $loader"
exec 4>in 5<out
read -r _ <&5
try 'a program is heard' await announcements 1
is "$(count stated.taken 'refused\..*')" 0 'all of it is known from the kernel'
try 'more than one object' reached stated.known 3
echo go >&4
read -r _ <&5
try 'what it loads, too' await announcements 2
is "$(count refused.malformed refused.not_mapped refused.stale refused.build_id)" 0 \
	'and nothing is refused'
exec 4>&-
wait $loader
is $? 0 'it ends well'

hooked "$programs/loader" threads "$loaded" 1000 >/dev/null
is $? 0 '8 threads load and unload 1000 times each'
# What was loaded may be unloaded by the time that it is looked at.
is "$(count refused.malformed refused.build_id)" 0 'and say nothing that makes no sense'

# Hostile ones.
before=$(count refused.not_mapped refused.gone)
taken=$(count stated.taken)
try 'a liar' "$speaker" forge $socket 20
await refused.malformed 20
is "$(count refused.malformed)" 20 'rubbish is refused'
is "$(($(count refused.not_mapped refused.gone) - before))" 20 'what is false is refused'
is "$(count stated.taken)" "$taken" 'nothing was believed'
if [ "$(id -u)" = 0 ]; then
	chmod 755 .
	try 'nobody speaks for another' "$speaker" other $socket "$cpid_pid"
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
try 'a flood' "$speaker" flood $socket 1000
try 'the flooder runs out of its ration' await refused.rate 1
grown=$(($(resident) - before))
echo "# $grown KiB more than before"
try 'of 32 MB that were sent nothing is kept' test $grown -lt 24576
try 'sampling goes on' await received.cpu-clock $((received + 100))

# Stopped: the queue fills, programs go on.
kill -STOP "$cpid_pid"
is "$(hooked "$programs/loader" threads "$loaded" 1000)" fine 'programs do not wait for one that stands still'
kill -CONT "$cpid_pid"
is "$(hooked "$builddir/t/target" 7)" "$("$builddir/t/target" 7)" 'nor when it goes on'

cpid_ask quit >/dev/null
cpid_wait
is "$cpid_status" 0 'cpid stops'
try 'its socket is gone' test ! -e $socket
is "$(hooked "$builddir/t/target" 7)" "$("$builddir/t/target" 7)" 'programs go on without it'
