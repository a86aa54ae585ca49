# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# CPU 1 goes and comes back while cpid runs: neither it nor a sample is lost, though cpid
# has fewer rights than at its start. If the kernel refuses it new events, it says so, and
# samples CPU 1 as soon as they are allowed.
. /cpi/case.sh

cpu1=/sys/devices/system/cpu/cpu1/online
paranoid=/proc/sys/kernel/perf_event_paranoid
has_cpus()
{
	[ "$(cpid_field cpus)" = "$1" ] && [ -z "$(cpid_field cpus_error)" ]
}

# CPU 1 alone runs the program.
is_sampled()
{
	before=$(samples procedure split_three)
	split_start taskset 2
	await_samples $((received + 300))
	split_stop
	cpid_ask flush >/dev/null
	check_accounting
	after=$(samples procedure split_three)
	check_that 'CPU 1 is sampled' "$after > $before + 50"
}

echo 2 >$paranoid # the package's
cpid_start --collector perf -F 1000 --sweep 200ms --stacks fp || fail 'cpid does not start'
[ "$(cpid_field cpus)" = 2 ] || fail "two CPUs, but cpid has $(cpid_field cpus)"
split_start
await_samples 300
for round in 1 2; do
	echo 0 >$cpu1 || skip_all 'this kernel keeps CPU 1'
	await has_cpus 1
	check_accounting
	echo 1 >$cpu1
	await has_cpus 2
	check_accounting
done
split_stop
is_sampled
! grep 'not all CPUs .*\(permission\|RLIMIT\)' t.log || fail 'events were refused'

# Debian's own level, at which only CAP_SYS_ADMIN opens events; cpid has given that up.
echo 3 >$paranoid
echo 0 >$cpu1
await has_cpus 1
echo 1 >$cpu1
await grep -q 'not all CPUs are sampled: .*perf_event_paranoid is 3.*set that sysctl to 2' t.log
check 'the status says so' test -n "$(cpid_field cpus_error)"
echo 2 >$paranoid
await has_cpus 2
check 'its end is logged' grep -q 'all CPUs are sampled again' t.log
is_sampled
cpid_stop
cpi prof --db t.db --limit 5
check 'the database is whole' cpi cat --db t.db --check
