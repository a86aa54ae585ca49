# SPDX-License-Identifier: GPL-2.0-or-later
# cpid.sh - for tests that run a cpid of their own; after tap.sh
#
# The daemon's readiness arrives through a FIFO, so no test has to guess when to go on.

peer=$builddir/t/cpid_peer

can_sample || skip_all 'sampling the whole system is not permitted here'
[ "$(stat -Lc %i /proc/self/ns/pid)" = 4026531836 ] ||
	skip_all 'this is not the initial PID namespace'

# The option for the rate; "" leaves the rate to cpid.
cpid_rate='-F 100'

# cpid_run [OPTIONS]: runs cpid, and prints its process and its exit status.
cpid_run()
{
	NOTIFY_SOCKET=$PWD/notify.sock \
		cpid --db t.db --socket t.sock --log t.log $cpid_rate "$@" >/dev/null &
	echo "PID=$!"
	wait $!
	echo "EXIT=$?"
}

# cpid_start [OPTIONS]: starts cpid, waits until it is ready; sets $cpid_pid.
cpid_start()
{
	rm -f notify.sock notify.fifo
	mkfifo notify.fifo
	"$peer" notify notify.sock >notify.fifo &
	cpid_manager=$!
	tap_pids="$tap_pids $cpid_manager"
	exec 3<notify.fifo
	cpid_await bound || return
	cpid_run "$@" >notify.fifo 3<&- &
	cpid_await 'PID=*'
	cpid_pid=${cpid_line#PID=}
	tap_pids="$tap_pids $cpid_pid"
	cpid_await READY=1
}

# cpid_await PATTERN: reads up to such a line; fails when cpid ends before it.
cpid_await()
{
	while read -r cpid_line <&3; do
		case $cpid_line in
		EXIT=*)
			cpid_status=${cpid_line#EXIT=}
			kill "$cpid_manager"
			exec 3</dev/null
			;;
		esac
		case $cpid_line in
		$1) return 0 ;;
		esac
	done
	return 1
}

# cpid_wait: waits for the daemon's end; sets $cpid_status.
cpid_wait()
{
	cpid_await 'EXIT=*'
}

# cpid_ask OP [TEXT]: sends a request, and prints the reply.
cpid_ask()
{
	"$peer" request t.sock "$@"
}

# cpid_field NAME: its value in the status.
cpid_field()
{
	cpid_ask status | sed -n "s/^$1 //p"
}

# is_blocked_by PID: whether that process keeps cpid from storing.
is_blocked_by()
{
	[ "$(cpid_field store_blocked_by)" = "$1" ]
}

# cpid_await_signals: waits until cpid has handled the signals that were sent before. It
# does so between two rounds of requests.
cpid_await_signals()
{
	cpid_ask status >/dev/null && cpid_ask status >/dev/null
}
