# SPDX-License-Identifier: GPL-2.0-or-later
# halt.sh - stops the main thread of cpid, as a debugger does; after tap.sh and cpid.sh
#
# Descriptor 7 keeps the thread stopped: start background commands with 7>&-.

halt=$builddir/t/programs/halt
sleep 600 &
tap_pids="$tap_pids $!"
"$halt" $! </dev/null >/dev/null || skip_all 'a thread cannot be stopped here'

# halt_start: stops the main thread of process $cpid_pid; fails if that is impossible.
halt_start()
{
	rm -f halt.in halt.out
	mkfifo halt.in halt.out
	"$halt" "$cpid_pid" <halt.in >halt.out &
	halt_pid=$!
	tap_pids="$tap_pids $halt_pid"
	exec 7>halt.in 8<halt.out
	read -r halt_line <&8 && [ "$halt_line" = stopped ]
}

# halt_end: resumes the thread.
halt_end()
{
	exec 7>&-
	wait "$halt_pid"
}
