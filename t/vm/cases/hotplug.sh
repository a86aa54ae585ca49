# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# CPU 1 goes and comes back while cpid runs: neither it nor a sample is lost.
. /cpi/case.sh

cpu1=/sys/devices/system/cpu/cpu1/online
cpid_start --collector perf -F 1000 --sweep 200ms || fail 'cpid does not start'
[ "$(cpid_field cpus)" = 2 ] || fail "two CPUs, but cpid has $(cpid_field cpus)"
split_start
await_samples 300
has_cpus()
{
	[ "$(cpid_field cpus)" = "$1" ]
}
for round in 1 2; do
	echo 0 >$cpu1 || skip_all 'this kernel keeps CPU 1'
	await has_cpus 1
	check_accounting
	echo 1 >$cpu1
	await has_cpus 2
	check_accounting
done
split_stop

# CPU 1 is sampled again.
before=$received
split_start taskset 2
await_samples $((before + 500))
split_stop
check_accounting
cpid_stop
cpi prof --db t.db --limit 5
check 'the database is whole' cpi cat --db t.db --check
