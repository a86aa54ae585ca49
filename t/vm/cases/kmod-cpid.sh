# SPDX-License-Identifier: GPL-2.0-or-later
# cpid takes the module by itself, and finds with it what it finds with perf
# needs: module
. /cpi/case.sh

# shares COLLECTOR: of the procedures of a program that measures itself.
shares()
{
	rm -f t.db*
	cpid_start --collector "$1" --sweep 500ms -F 500 || fail 'cpid does not start'
	cpid_ask status >status
	[ "$(sed -n 's/^collector //p' status)" = "$2" ] || fail "$(cat status)"
	split_start
	await_samples 2000
	split_stop
	cpid_ask flush >/dev/null
	check_accounting
	cat status
	unknown=$(status_sum unknown.)
	cpid_stop
	check_share
	check_that 'hardly any sample is without an image' "$unknown <= 0.005 * $received"
	check 'the database is whole' cpi cat --db t.db --check
}

module_load
shares auto kmod
cpi prof --db t.db --limit 10
shares perf perf
module_unload
shares auto perf
