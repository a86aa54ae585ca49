# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon is killed amid its work: the device is free again, and nothing stays.
# needs: module
. /cpi/case.sh

module_load
for _ in 1 2 3; do
	cpid_start --collector kmod --sweep 200ms -F 1000 || fail 'cpid does not start'
	await_samples 200
	kill -KILL "$cpid_pid"
	cpid_wait
done
cpid_start --collector kmod --sweep 200ms -F 1000 || fail 'cpid does not start again'
await_samples 500
rmmod cpi 2>/dev/null && fail 'the module goes while cpid uses it'
cpid_ask rate 400 >/dev/null || fail 'the rate cannot be changed'
await_samples 1000
cpid_ask flush >/dev/null
check_accounting
cpid_stop
module_unload
