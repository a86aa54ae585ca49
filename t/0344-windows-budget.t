#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The rate of windows: after enough of them it falls to a part of the budget, and a rate that
# was asked for stays. Every window is counted meanwhile.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
[ -x "$builddir/helpers/cpi-translate" ] || skip_all 'windows are not built in'

# burn SECONDS: keeps every CPU busy.
burn()
{
	burners=
	for cpu in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
		"$programs/burn_a" $(($1 * 1000)) &
		burners="$burners $!"
	done
	wait $burners
}

# windows_on: whether windows have begun, or will not.
windows_on()
{
	[ "$(cpid_field windows)" = on ] || grep -q 'windows: not available' t.log
}

has_fallen()
{
	[ "$(cpid_field windows_rate_hz)" != "$1" ]
}

# check_windows NAME: in one answer, received = stored + lost.
check_windows()
{
	cpid_ask status >status.txt
	is "$(status_sum status.txt windows_received)" \
		"$(($(status_sum status.txt windows_stored) + \
		$(status_sum status.txt windows_lost.)))" \
		"windows: received = stored + lost, $1"
}

# A window takes longer than 1 us on any machine, so a tenth of this budget allows 5 at most.
budget=0.005
collect_start --budget $budget --flush 1h
await windows_on || bail 'windows do not begin'
[ "$(cpid_field windows)" = on ] || skip_all "no windows here: $(grep windows: t.log | tail -n 1)"
plan $((nr_stored_tests + 6))

is "$(cpid_field windows_rate_hz)" 50.0 'the first windows are taken at the full rate'
end=$(($(date +%s) + 600))
until has_fallen 50.0 || [ "$(date +%s)" -gt $end ]; do
	burn 5
done
is "$(cpid_field windows_rate_hz)" 5.0 'later the rate is what a tenth of the budget allows'
check_windows 'after the change'
burn 2
collect_stop
check_stored
is "$(sql "SELECT count(DISTINCT mean_period) FROM stream WHERE event = 'windows'")" 2 \
	'windows of different rates are different streams'

rm -f $db*
collect_start --budget $budget --windows 50
burn 1
is "$(cpid_field windows_rate_hz)" 50.0 'a rate that was asked for stays'
cpid_ask quit >/dev/null
cpid_wait
