#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that make readers wait, or that take long to read (t/programs/waits.c): cpid
# answers, and attributes samples of other processes.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need timeout
[ "$(id -u)" = 0 ] || skip_all 'cgroups and userfaultfd want root'
plan $((nr_stored_tests + 13))

windows=
if [ -x "$builddir/helpers/cpi-translate" ] &&
	cpid_start --db probe.db -e "$event" --collector bpf --windows 499; then
	windows='--collector bpf --windows 499'
	cpid_ask quit >/dev/null
	cpid_wait
fi

# In ms: the CPU time of the daemon and of its readers, and the time.
cpu_ms()
{
	awk '{ print ($14 + $15) * 10 }' "/proc/$cpid_pid/stat"
}
readers_ms()
{
	cpid_field readers_cpu_s | awk '{ print int($1 * 1000) }'
}
now_ms()
{
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# beside NAME: a test that cpid answers while the process $pid is there. The CPU time of
# cpid depends on what else runs on the machine, so it is only noted.
beside()
{
	cpu=$(cpu_ms)
	readers=$(readers_ms)
	begun=$(now_ms)
	for _ in 1 2 3; do
		"$programs/burn_a" 600
		timeout 30 cpi status --all --socket t.sock >status.txt 2>&1 || : >silent
	done
	timeout 30 "$peer" request t.sock flush >/dev/null || : >silent
	[ ! -e silent ]
	ok $? "cpid answers beside $1"
	passed=$(($(now_ms) - begun))
	cpu=$(($(cpu_ms) - cpu)) readers=$(($(readers_ms) - readers))
	note "$1: of a CPU cpid takes $((cpu * 1000 / passed)) per mille, its readers \
$((readers * 1000 / passed))"
	kill -KILL $first 2>/dev/null
	wait "$first" 2>/dev/null
}

# begin WHAT...: sets $first, which must be killed at the end, and $pid.
begin()
{
	rm -f said
	mkfifo said
	CPI_LABEL=waiting "$programs/waits" "$@" >said 2>begin.err &
	first=$!
	tap_pids="$tap_pids $first"
	read -r pid <said
}

try_beside()
{
	begin_name=$1
	shift
	if begin "$@"; then
		beside "$begin_name"
	else
		skip 1 "$(head -n 1 begin.err)"
	fi
}

# shellcheck disable=SC2086 # words
collect_start -F 500 --sweep 200ms --by label $windows
try_beside 'a program that computes' burn
try_beside 'an environment that cannot be read' userfault
try_beside 'a stopped process' stopped
try_beside 'a traced process' traced
try_beside 'a process that forks with 1 GB' fork 1024
try_beside 'a process that maps endlessly' maps
try_beside 'a process with 60,000 mappings' many 60000
try_beside 'children that share 60,000 mappings' vfork 60000

# A cgroup that gets 1 ms of a second, one that is frozen.
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
own=cpi-test.$$
# in_cgroup FOLDER: moves the process there.
in_cgroup()
{
	echo "$pid" >"$1/cgroup.procs"
}

throttled=
if [ -n "$v1" ] && mkdir "$v1/$own" 2>/dev/null; then
	throttled=$v1/$own
	echo 1000000 >"$throttled/cpu.cfs_period_us"
	echo 1000 >"$throttled/cpu.cfs_quota_us" || throttled=
elif [ -n "$v2" ] && mkdir "$v2/$own" 2>/dev/null; then
	throttled=$v2/$own
	echo '1000 1000000' >"$throttled/cpu.max" 2>/dev/null || throttled=
fi
if [ -n "$throttled" ] && begin maps && in_cgroup "$throttled"; then
	beside 'a throttled process'
else
	skip 1 'no cgroup can be throttled here'
fi

if [ -n "$v2" ] && mkdir "$v2/$own-frozen" 2>/dev/null && begin maps &&
	in_cgroup "$v2/$own-frozen" && echo 1 >"$v2/$own-frozen/cgroup.freeze"; then
	beside 'a frozen process'
else
	skip 1 'no cgroup can be frozen here'
fi
collect_stop
check_stored
bound "$(samples burn_a '*/burn_a')" '>=' 6000 'samples of another process have its image'
share_at_most "$(sql "SELECT total(n) FROM comm WHERE image = 0 AND comm = 'burn_a'")" \
	"$(samples burn_a '*')" 0.001 'at most 0.1 % of the samples of another process have no image'
rmdir "$v1/$own" "$v2/$own" "$v2/$own-frozen" 2>/dev/null
:
