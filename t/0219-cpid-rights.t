#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid and its helpers have the rights that doc/security.md states; cpid.service and the filter
# of workers give them what they need and nothing else.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
collector=${CPI_TEST_COLLECTOR:-bpf}
CPI_TEST_COLLECTOR=$collector
. "$srcdir/t/collect.sh"
need strace python3 setpriv mountpoint
[ "$(id -u)" = 0 ] || skip_all 'only root can become another user with capabilities'
strace -o probe true 2>/dev/null || skip_all 'nothing can be traced here'
plan 16

check="$srcdir/t/rights_check.py" unit=$srcdir/daemon/cpid.service.in
doc=$srcdir/doc/security.md
cpid_program=$(command -v cpid)
capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr '[:upper:]' '[:lower:]' |
	sed 's/cap_/+/g; s/ /,/g')
mkdir bin
cat >bin/cpid <<END
#!/bin/sh
exec strace -f -qq -o '$PWD/trace' setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=-all,$capabilities --ambient-caps=-all,$capabilities \
	--bounding-set=-all,$capabilities --no-new-privs '$cpid_program' "\$@"
END
chmod +x bin/cpid
setpriv --bounding-set="-all,$capabilities" true 2>/dev/null ||
	skip_all 'this kernel or setpriv lacks a capability of the unit'

# Uses of capabilities, of this shell and all that it starts.
tracing=
tracefs=$PWD/tracefs
end_tracing()
{
	if [ -n "$tracing" ]; then
		echo 0 >"$tracing/tracing_on"
		rmdir "$tracing"
	fi
	tracing=
	! mountpoint -q "$tracefs" || umount -l "$tracefs"
}
trap 'end_tracing; tap_end' EXIT
begin_tracing()
{
	mkdir "$tracefs"
	mount -t tracefs none "$tracefs" 2>/dev/null || return
	[ -d "$tracefs/events/capability/cap_capable" ] || return
	mkdir "$tracefs/instances/cpi-$$" 2>/dev/null || return
	tracing=$tracefs/instances/cpi-$$
	echo 16384 >"$tracing/buffer_size_kb"
	echo 1 >"$tracing/options/event-fork"
	echo 'ret == 0 && comm ~ "cpi*"' >"$tracing/events/capability/cap_capable/filter"
	echo $$ >"$tracing/set_event_pid"
	echo 1 >"$tracing/events/capability/cap_capable/enable"
}
begin_tracing

rm -f t.log
chmod 777 .
PATH=$PWD/bin:$PATH
collect_start -F 20 --sweep 200ms --flush 5s --by comm,label,cgroup --retain all --stacks dwarf \
	--metrics "$PWD/metrics.prom" --group nogroup
ok $? 'cpid starts as another user, with the capabilities of cpid.service'
daemon=$(cut -d " " -f 1 "/proc/$cpid_pid/task/$cpid_pid/children")

# What only its capabilities let it read: a program of root's alone, one without a name.
mkdir -m 700 private
cp "$programs/burn_a" private/closed
chmod 700 private/closed
# Its C library has no name before it is loaded.
cp "$(awk '/\/libc[.-]/ { print $6; exit }' /proc/self/maps)" private/libc.so.6
exec 9<private/libc.so.6
rm private/libc.so.6
LD_PRELOAD=/proc/self/fd/9 python3 -c '
import time
end = time.monotonic() + 2
while time.monotonic() < end:
    bytes(1000000).find(b"x")' || bail 'python3 does not run'
exec 9<&-
private/closed 1000
"$programs/jit" 300 map_a map_b >jit.out
cpi label some -- "$programs/burn_c" 300
"$check" processes "$doc" "$daemon" t.sock >rights
# A worker of cpi-capture lives for one image, and may be seen before it locks itself in.
is "$(grep 'differs' rights | grep -v 'cpi-capture worker')" '' 'each process has the rights that doc/security.md states'
is "$(sed -n '/capture worker/d; s/^seen //p' rights | sort -u | tr '\n' ',')" \
	'cpi-capture,cpi-read,cpi-read worker,cpi-translate,cpi-translate worker,cpi-unwind,cpi-unwind worker,cpid,cpid thread,' \
	'all processes of cpid were checked'
sed 's/| `SYSLOG`[^|]*|/| none |/; s/^\(| `cpid` |\) [^|]*|/\1 none |/' "$doc" >wrong.md
like "$("$check" processes wrong.md "$daemon" t.sock)" 'differs cpid:' \
	'the checker finds a wrong statement'

# has_identified GLOB: whether the build id of such a file was read.
has_identified()
{
	[ "$(sql "SELECT count(*) FROM image WHERE name GLOB '$1' AND length(build_id) > 0")" -ge 1 ]
}

for op in 'status' 'flush' 'epoch next' 'rate 200' 'mark here'; do
	# shellcheck disable=SC2086 # an operation and its text
	cpid_ask $op >status
done
kill -HUP "$daemon"
is "$(samples closed '*/private/closed' | awk '{ print ($1 > 0) }')" 1 \
	'cpid reads a program that only root can read'
try 'it reads a library that was deleted' \
	within 20 has_identified "$PWD/private/libc.so.6*"
cpid_ask quit >status
cpid_wait
is "$cpid_status" 0 'cpid ends in good order'

if [ -n "$tracing" ]; then
	grep cap_capable "$tracing/trace" >used
	end_tracing
	bound "$(grep -c . used)" '>' 100 'uses of capabilities were recorded'
	is "$("$check" capabilities "$unit" used)" '' 'each capability of cpid.service is used'
	grep -v ' cap 34,' used >fewer
	is "$("$check" capabilities "$unit" fewer)" CAP_SYSLOG 'the checker finds an unused capability'
else
	skip 3 'this kernel does not report uses of capabilities'
fi

if command -v systemd-analyze >/dev/null; then
	bound "$(grep -c . trace)" '>' 1000 'system calls were traced'
	elsewhere='^(unused (setitimer|getcpu|open_by_handle_at)|missing fsopen)$'
	# Older kernels need setitimer (daemon/os/foreignfds.c), and glibc without rseq getcpu.
	# Where no cgroup file system is mounted, cpid tries fsopen, which takes more rights than it
	# has; elsewhere it needs open_by_handle_at.
	is "$("$check" calls "$unit" trace | grep -vE "$elsewhere")" '' \
		'each system call is allowed by cpid.service, and each entry of its list is needed'
	sed 's/^SystemCallFilter=bpf/SystemCallFilter=@keyring/' "$unit" >changed.service
	is "$("$check" calls changed.service trace | grep -vE "$elsewhere" | tr '\n' ',')" 'missing bpf,unused @keyring,' \
		'the checker finds a missing and an unused system call'
else
	skip 3 'systemd-analyze is missing'
fi

# fstat is of older C libraries, futex of libraries that call pthread_once() late, rt_sigreturn of
# signals that may come at any time, lseek and mprotect of other versions of libraries.
"$check" filter "$srcdir/helpers/sandbox.c" trace >filtered
is "$(grep -vE '^unused (fstat|futex|rt_sigreturn|lseek|mprotect)$' filtered | grep unused)" '' \
	"each call that the filter of workers allows is needed"
grep -v 'recvmsg\|sendmsg' trace >fewer
is "$("$check" filter "$srcdir/helpers/sandbox.c" fewer | grep -c 'unused recvmsg\|unused sendmsg')" 2 \
	'the checker finds calls that the filter need not allow'
forget_maps
like "$(sed -n '/^| `cpid` |/p' "$doc")" 'unnamed' 'the table has its row of cpid'
