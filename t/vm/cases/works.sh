# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# limit: 1800
# What works on this kernel: lines "kernel: KEY VALUE", of which t/vm/kernels makes a table.
# A collector that starts must account for each sample and measure a program's shares.
# An arm64 machine emulated on a busy host needs more than 900 s for three collectors.
. /cpi/case.sh

say()
{
	echo "kernel: $*"
}

# last_word PATTERN: the last such line of the log, without its time and level.
last_word()
{
	grep "$1" t.log | tail -n 1 |
		sed 's/^[^ ]* *cpid: //;s/^[a-z]*: \([a-z]*: \)/\1/' | cut -c 1-160
}

# await_s SECONDS COMMAND...: until it succeeds, at most so long.
await_s()
{
	read -r until_s _ </proc/uptime
	until_s=$((${until_s%.*} + $1))
	shift
	until "$@"; do
		read -r now_s _ </proc/uptime
		[ "${now_s%.*}" -lt "$until_s" ] || return
		usleep 100000
	done
}

# An emulated machine that its host lets wait may lose samples, but each has a name.
check_named()
{
	cpid_ask status >status || fail 'cpid does not answer'
	received=$(status_sum received.)
	kept=$(($(status_sum stored.) + $(status_sum unknown.) + $(status_sum lost.) +
		$(status_sum pending_samples)))
	check_that 'every sample is somewhere' "$received == $kept && $received > 0"
}

has_cpus()
{
	[ "$(cpid_field cpus)" = "$1" ] && [ -z "$(cpid_field cpus_error)" ]
}

has_windows()
{
	cpid_ask status >status && [ "$(status_sum windows_stored)" -ge 20 ]
}

hotplug()
{
	if [ ! -e "$cpu1" ] || ! echo 0 >"$cpu1" 2>/dev/null; then
		say "$collector hotplug no: CPU 1 stays"
		return
	fi
	await_s 60 has_cpus 1 || fail 'CPU 1 went, and cpid does not see it'
	echo 1 >"$cpu1"
	await_s 60 has_cpus 2 || fail 'CPU 1 came back, and cpid does not sample it'
	say "$collector hotplug yes"
}

say_windows()
{
	if [ "$(cpid_field windows)" != on ]; then
		say "$collector windows no: $(last_word 'windows: ')"
	elif [ "$(status_sum windows_stored)" -ge 20 ]; then
		say "$collector windows yes"
	else
		grep '^window' status
		say "$collector windows no: $(status_sum windows_received) samples, and fewer than 20 windows"
	fi
}

say_stacks()
{
	if [ "$(status_sum stacks_stored)" -gt 0 ]; then
		say "$collector stacks yes"
	else
		say "$collector stacks no: $(status_sum stacks_received) received, none stored"
	fi
}

# try_collector NAME [OPTION...]: says what of it works.
try_collector()
{
	collector=$1
	shift
	rm -f t.db* t.log status
	if ! cpid_start --collector "$collector" -F 200 --sweep 500ms --stacks fp "$@"; then
		say "$collector collects no: $(last_word .)"
		return
	fi
	split_start
	await_s 120 has_samples 800 || fail "$collector: no samples"
	[ $# = 0 ] || [ "$(cpid_field windows)" != on ] || await_s 60 has_windows
	split_stop
	hotplug
	cpid_ask flush >/dev/null
	check_named
	[ $# = 0 ] || say_windows
	say_stacks
	! grep -q "scheduler's ticks" t.log || say "$collector ticks yes"
	cpid_stop
	check_share
	check 'the database is whole' cpi cat --db t.db --check
	say "$collector collects yes"
}

cpu1=/sys/devices/system/cpu/cpu1/online
# As cpid's package sets it: else Debian's kernels refuse events of a CPU that comes back.
echo 2 >/proc/sys/kernel/perf_event_paranoid
say "release $(uname -r)"
try_collector perf
try_collector bpf --windows 50
if [ ! -e /cpi.ko ]; then
	say "kmod collects no: $(cat /cpi/no_module)"
elif insmod /cpi.ko; then
	try_collector kmod --windows 50
	module_unload
else
	say 'kmod collects no: the module does not load'
fi

# Both stay until the next boot.
mount -t securityfs none /sys/kernel/security 2>/dev/null
for mode in integrity confidentiality; do
	if ! echo $mode 2>/dev/null >/sys/kernel/security/lockdown; then
		say "lockdown $mode no: this kernel cannot be locked down"
		continue
	fi
	rm -f t.db* t.log
	if cpid_start --collector auto -F 500 --sweep 200ms; then
		await_s 60 has_samples 100 || fail "lockdown: $mode: no samples"
		say "lockdown $mode $(cpid_field collector)"
		cpid_stop
	else
		[ $mode = integrity ] || check 'cpid names the lockdown' \
			grep -q 'locked down for confidentiality' t.log
		say "lockdown $mode no: $(last_word .)"
	fi
done
