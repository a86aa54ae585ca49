# SPDX-License-Identifier: GPL-2.0-or-later
# Windows by the module are pieces of what single-stepping shows; a page that is not
# there ends them by name, also in NMIs; whoever makes them may be killed, and leaves nothing.
# needs: windows
# arch: x86_64
. /cpi/case.sh

module_load
check 'windows go where the program goes' /cpi/t/window_kmod exact 200
check 'windows end at a page that is not there' /cpi/t/window_kmod fault 40
module_unload
module_load /cpi_nmi.ko
check 'windows of NMIs do' /cpi/t/window_kmod exact 100 nmi
check 'and end there' /cpi/t/window_kmod fault 20 nmi
module_unload cpi_nmi

cycle()
{
	module_load
	/cpi/t/window_kmod fault 1000000 &
	follower=$!
	tap_pids="$tap_pids $follower"
	await grep -q '^cpi [0-9]* [1-9]' /proc/modules
	usleep 300000
	! rmmod cpi 2>rmmod.err || fail 'the module goes while windows are made'
	kill -KILL $follower
	wait $follower
	module_unload
}

cycle
before=$(kernel_memory)
for _ in 1 2 3; do
	cycle
done
after=$(kernel_memory)
# 3 times the tables, of 16 MiB, would be 48 MiB.
check_that 'no memory stays (kB)' "$after - $before < 4096"

module_load
cpid_start --collector kmod --windows 500 --sweep 500ms -F 100 ||
	fail 'cpid does not start'
split_start
has_windows()
{
	cpid_ask status >status && [ "$(status_sum windows_stored)" -ge 200 ]
}
await has_windows
split_stop
cpid_ask flush >/dev/null
cpid_ask status >status
grep '^window' status
check 'the stream is there' grep -q '^windows on' status
kept=$(($(status_sum windows_stored) + $(status_sum windows_pending) +
	$(status_sum windows_lost.)))
check_that 'every window is somewhere' "$(status_sum windows_received) + \
	$(status_sum windows_pending) == $kept"
cpid_stop
check 'the database is whole' cpi cat --db t.db --check
check 'windows are the module'"'"'s' test -n "$(sqlite3 -readonly t.db \
	"SELECT 1 FROM stream WHERE event = 'windows' AND source = 'kmod'")"
module_unload
