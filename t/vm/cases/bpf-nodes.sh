# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# needs: bpf
# cpus: 4
# nodes: 2
# Each node's CPUs have programs and maps of their own; nothing is lost or mixed up
# between CPUs that take turns, nor when one goes and comes back.
. /cpi/case.sh

check_that 'CPUs of the nodes take turns' \
	"$(cat /sys/devices/system/node/node0/cpulist | tr , .) == 0.2"
bpf_ids >before
cpid_start --collector bpf --sweep 100ms -F 1000 || fail 'cpid does not start'
bpf_ids >during
check_that 'there is a program for each node' \
	"$(wc -l <during) - $(wc -l <before) >= 2"
received=0
for cpu in 0 1 2 3; do
	split_start taskset $((1 << cpu))
	await_samples $((received + 300))
	split_stop
	check_accounting
done
cpu3=/sys/devices/system/cpu/cpu3/online
has_cpus()
{
	[ "$(cpid_field cpus)" = "$1" ]
}
echo 0 >$cpu3
await has_cpus 3
echo 1 >$cpu3
await has_cpus 4
split_start taskset 8
await_samples $((received + 300))
split_stop
cpid_ask flush >/dev/null
check_accounting
cpid_stop
cpi prof --db t.db --limit 5
check 'flips' /cpi/t/bench/flips -F 1000 -r 200 -s 1
