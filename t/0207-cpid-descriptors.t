#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A client that sends descriptors whose release takes long does not delay cpid.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
plan 18
linger=$builddir/t/programs/linger
older=$builddir/t/programs/older
real=$(command -v cpid)

# Runs cpid on this kernel, or as on an older one that cannot refuse descriptors.
cpid()
{
	if [ "$kernel" = older ]; then
		exec "$older" "$real" "$@"
	fi
	exec "$real" "$@"
}

# linger_start SOCKET: sends descriptors; their release lasts until linger_end.
linger_start()
{
	rm -f linger.in linger.out
	mkfifo linger.in linger.out
	"$linger" 30 4 "$1" <linger.in >linger.out &
	linger_pid=$!
	tap_pids="$tap_pids $linger_pid"
	exec 7>linger.in 8<linger.out
	read -r taken <&8
	echo "# kernel: $kernel: $1 took $taken"
}

linger_end()
{
	exec 7>&- 8<&-
	wait "$linger_pid"
}

are_refused()
{
	[ "$(cpid_field refused.descriptors)" -ge 4 ]
}

for kernel in this older; do
	cpid_start || bail 'cpid does not start'
	for socket in t.sock t.sock.announce; do
		linger_start $socket
		for i in 1 2 3; do
			timeout 300 "$peer" request t.sock status >status.txt
			is "$? $(grep -c '^main_waits_s' status.txt)" '0 0' \
				"$kernel kernel: $socket: the status is answered by the main thread, $i"
		done
		linger_end
	done
	if [ $kernel = older ]; then
		linger_start t.sock.announce
		is "$taken" 4 'an older kernel delivers the descriptors'
		try 'the descriptors are counted as refused' await are_refused
		linger_end
	fi
	try "$kernel kernel: a flush request succeeds" cpid_ask flush
	cpid_ask quit
	cpid_wait
	is "$cpid_status" 0 "$kernel kernel: cpid exits with 0"
done
