# SPDX-License-Identifier: GPL-2.0-or-later
# cpid takes the module by itself when it is there, and finds what a program measured
# needs: module
. /cpi/case.sh

# start COLLECTOR: which is the one that cpid takes.
start()
{
	cpid_start --collector auto --sweep 500ms -F 1000 || fail 'cpid does not start'
	[ "$(cpid_field collector)" = "$1" ] || fail "$(cpid_ask status)"
}

module_load
start kmod
split_start
await_samples 3000
split_stop
cpid_ask flush >/dev/null
check_accounting
cat status
unknown=$(status_sum unknown.)
cpid_stop
cpi prof --db t.db --limit 10
check_share
check_that 'hardly any sample is without an image' "$unknown <= 0.005 * $received"
check 'the database is whole' cpi cat --db t.db --check
module_unload
[ -e /cpi/t/bench/flips ] && start bpf || start perf
cpid_stop
