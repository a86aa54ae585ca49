#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The running daemon has the privileges of cpid(8) and no others.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"

# Bits of PERFMON, SYS_PTRACE, DAC_READ_SEARCH, SYSLOG, BPF, CHECKPOINT_RESTORE,
# SYS_ADMIN, SYS_RESOURCE.
perfmon=38 sys_ptrace=19 dac_read_search=2 syslog=34 bpf=39 checkpoint_restore=40
sys_admin=21 sys_resource=24

# mask NAME PID: the line NAME of the status of a process.
mask()
{
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$2/status"
}

# has BIT: whether this shell has the capability.
has()
{
	[ $((0x$(mask CapPrm $$) >> $1 & 1)) = 1 ]
}

has "$perfmon" || perfmon=$sys_admin
kept=0
for bit in $perfmon $sys_ptrace $dac_read_search $syslog $bpf $checkpoint_restore; do
	if has "$bit"; then
		kept=$((kept | 1 << bit))
	fi
done
kept=$(printf '%016x' "$kept")

# check_masks WHO: checks what the running cpid may do, and stops it.
check_masks()
{
	is "$(mask CapPrm "$cpid_pid")" "$kept" \
		"$1: the permitted capabilities are those of cpid(8)"
	is "$(mask CapEff "$cpid_pid")" "$kept" \
		"$1: the effective capabilities are those of cpid(8)"
	is "$(mask CapInh "$cpid_pid")" 0000000000000000 "$1: no capability is inheritable"
	is "$(mask CapAmb "$cpid_pid")" 0000000000000000 "$1: no capability is ambient"
	is "$(mask CapBnd "$cpid_pid")" "$kept" "$1: the bounding set is that of cpid(8)"
	is "$(mask NoNewPrivs "$cpid_pid")" 1 "$1: no new privileges can be gained"
	is "$(sed -n 's/^Max core file size *//p' "/proc/$cpid_pid/limits" | tr -s ' ')" \
		'0 0 bytes ' "$1: core dumps are off"
	is "$(sed -n 's/^Max locked memory *//p' "/proc/$cpid_pid/limits" | tr -s ' ')" \
		"$memlock" "$1: buffers of further CPUs can be locked"
	try "$1: a rate request succeeds, so events can be opened again" cpid_ask rate 37
	is "$(cpid_field rate_hz)" 37.0 "$1: the status shows the new rate"
	try "$1: a flush request succeeds" cpid_ask flush
	kill -TERM "$cpid_pid"
	cpid_wait
	is "$cpid_status" 0 "$1: cpid exits with 0"
}

[ "$(id -u)" = 0 ] || skip_all 'only root has privileges to drop'
plan 32

is "$(sed -n '/^\.Sh PRIVILEGES/,/^\.Sh SECURITY/s/^\.It Dv \(CAP_[A-Z_]*\)$/\1/p' \
	"$srcdir/man/cpid.8" | tr '\n' ' ')" 'CAP_PERFMON CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_SYSLOG CAP_BPF CAP_CHECKPOINT_RESTORE ' \
	'cpid(8) lists the capabilities of this test'

memlock="$(ulimit -H -l)"
if has "$sys_resource" || [ "$memlock" = unlimited ]; then
	memlock='unlimited unlimited bytes '
else
	memlock="$((memlock * 1024)) $((memlock * 1024)) bytes "
fi
ulimit -S -l 64
try 'root: cpid starts' cpid_start --group daemon
is "$(stat -c '%G %a' t.sock)" 'daemon 660' 'the socket belongs to the group of --group'
is "$(stat -c '%G %a' t.db)" 'daemon 640' 'the database belongs to the group of --group'
check_masks root

chmod 777 . && rm -f t.db t.db-* t.log
try 'nobody: cpid starts' cpid_start --user nobody
is "$(stat -c %U "t.sock")" nobody 'nobody: the socket belongs to the user of --user'
is "$(stat -c %U t.db)" nobody 'nobody: the database belongs to the user of --user'
check_masks nobody
is "$(cpid --user 'no one' --db u.db --socket u.sock 2>&1)" 'cpid: error: user: no one: there is no such user' \
	'--user with an unknown user is an error'
