#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the running daemon may do is what cpid(8) says, and no more.
. "${srcdir:-.}/t/tap.sh"
. "${srcdir:-.}/t/cpid.sh"

# Bits of PERFMON, SYS_PTRACE, DAC_READ_SEARCH, SYSLOG, BPF, CHECKPOINT_RESTORE,
# SYS_ADMIN.
perfmon=38 sys_ptrace=19 dac_read_search=2 syslog=34 bpf=39 checkpoint_restore=40
sys_admin=21

mask() { # NAME PID
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$2/status"
}

has() { # BIT
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

check_masks() { # WHO
	is "$(mask CapPrm "$cpid_pid")" "$kept" "$1: permitted capabilities"
	is "$(mask CapEff "$cpid_pid")" "$kept" "$1: effective capabilities"
	is "$(mask CapInh "$cpid_pid")" 0000000000000000 "$1: inheritable capabilities"
	is "$(mask CapAmb "$cpid_pid")" 0000000000000000 "$1: ambient capabilities"
	is "$(mask CapBnd "$cpid_pid")" "$kept" "$1: bounding set"
	is "$(mask NoNewPrivs "$cpid_pid")" 1 "$1: no new privileges"
	is "$(sed -n 's/^Max core file size *//p'   	"/proc/$cpid_pid/limits" | tr -s ' ')" '0 0 bytes ' "$1: no core"
	try "$1: the rate changes, so events are opened again" cpid_ask rate 37
	is "$(cpid_field rate_hz)" 37.0 "$1: at the new rate"
	try "$1: and flushed" cpid_ask flush
	kill -TERM "$cpid_pid"
	cpid_wait
	is "$cpid_status" 0 "$1: it exits with 0"
}

[ "$(id -u)" = 0 ] || skip_all 'only root has privileges to drop'
plan 30

is "$(sed -n '/^\.Sh PRIVILEGES/,/^\.Sh SECURITY/s/^\.It Dv \(CAP_[A-Z_]*\)$/\1/p'   	"${srcdir:-.}/man/cpid.8" | tr '\n' ' ')" 'CAP_PERFMON CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_SYSLOG CAP_BPF CAP_CHECKPOINT_RESTORE ' 'cpid(8) names the same capabilities'

try 'root: cpid starts' cpid_start --group daemon
is "$(stat -c '%G %a' t.sock)" 'daemon 660' 'the socket is the group'\''s'
is "$(stat -c '%G %a' t.db)" 'daemon 640' 'the database is the group'\''s'
check_masks root

chmod 777 . && rm -f t.db t.db-* t.log
try 'nobody: cpid starts' cpid_start --user nobody
is "$(stat -c %U "t.sock")" nobody 'nobody: it is nobody'
is "$(stat -c %U t.db)" nobody 'nobody: so are the files'
check_masks nobody
is "$(cpid --user 'no one' --db u.db --socket u.sock 2>&1)" 'cpid: error: user: no one: there is no such user' 'an unknown user is an error'
