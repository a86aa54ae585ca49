# SPDX-License-Identifier: GPL-2.0-or-later
# needs: bpf
# At Debian's own level of perf_event_paranoid only CAP_SYS_ADMIN opens events. cpid gives
# that up before windows begin, so their events are opened before, and wait.
. /cpi/case.sh

has_windows()
{
	check 'the program runs' /cpi/t/programs/branch 500
	cpid_ask status >status && [ "$(status_sum windows_stored)" -ge 20 ]
}

await_s()
{
	read -r until_s _ </proc/uptime
	until_s=$((${until_s%.*} + $1))
	shift
	until "$@"; do
		read -r now_s _ </proc/uptime
		[ "${now_s%.*}" -lt "$until_s" ] || return
	done
}

echo 3 >/proc/sys/kernel/perf_event_paranoid
cpid_start --collector bpf -F 100 || fail 'cpid does not start'
await_s 120 has_windows || {
	cat t.log
	fail 'there are no windows'
}
received=$(status_sum windows_received)
check_that 'received = stored + lost' \
	"$received == $(status_sum windows_stored) + $(status_sum windows_lost.)"
cpid_stop
check 'the database is whole' cpi cat --db t.db --check
