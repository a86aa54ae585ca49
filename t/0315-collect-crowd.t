#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 20,000 processes and 5,000 images at once: memory stays below the bounds of cpid(8).
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
processes=20000
images=5000
[ "$(cat /proc/sys/kernel/pid_max)" -gt $((processes + 5000)) ] ||
	skip_all "kernel.pid_max is too low for $processes processes"
[ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -gt $((processes * 150)) ] ||
	skip_all "there is not the memory for $processes processes"
plan $((nr_stored_tests + 10))

# kib NAME: of the daemon's memory.
kib()
{
	sed -n "s/^$1:[[:space:]]*\([0-9]*\) kB/\1/p" "/proc/$cpid_pid/status"
}

collect_start -F 1000
before=$(kib RssAnon)
mkdir crowd
mkfifo crowd.in crowd.out
"$programs/crowd" crowd $processes $images <crowd.in >crowd.out &
crowd=$!
tap_pids="$tap_pids $crowd"
exec 4>crowd.in 5<crowd.out
ready=
read -r ready <&5
[ "$ready" = ready ] || {
	wait $crowd
	[ $? -ne 77 ] || skip_all "$processes processes cannot be started here"
	bail 'the processes do not start'
}
check_status 'with 20,000 processes'
cpid_ask flush >/dev/null
check_status 'with 20,000 processes, after a flush'
after=$(kib RssAnon)
bound "$(cpid_field processes)" '>=' $processes 'all processes are known'
bound "$(cpid_field images)" '>=' $images 'all images are known'
is "$(cpid_field unknown.image_limit)$(cpid_field unknown.map_gap)" '' 'no sample is unknown because of a bound'
# Under AddressSanitizer an allocation takes more.
note "anonymous memory: $before KiB before, $after KiB with the crowd"
bound $((after - before)) '<=' $((processes + images + 16 * 1024)) \
	'memory grows by at most 1 KiB for each process and image, and 16 MiB'
exec 4>&-
wait $crowd
is $? 0 'the processes end in good order'
cpid_ask flush >/dev/null
bound "$(($(kib RssAnon) - before))" '<=' $((processes + images + 16 * 1024)) \
	'memory has not grown further when the processes have ended'
collect_stop
check_stored
bound "$(sql "SELECT count(DISTINCT i.id) FROM comm c JOIN image i ON i.id = c.image
	WHERE i.name GLOB '*/crowd/image*'")" '>=' $((images / 4)) 'at least a quarter of the images have samples'
