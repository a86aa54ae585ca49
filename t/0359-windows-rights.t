#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Windows begin after cpid has given up rights, but their events are opened before: at
# kernel.perf_event_paranoid 3, Debian's kernels refuse them without CAP_SYS_ADMIN.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need strace
strace -o probe true 2>/dev/null || skip_all 'nothing can be traced here'
[ -x "$builddir/helpers/cpi-translate" ] || skip_all 'windows are not built in'
program=$(realpath "$programs/branch")
cpid_program=$(command -v cpid)

mkdir bin
cat >bin/cpid <<END
#!/bin/sh
exec strace -qq -e trace=perf_event_open,prctl -o '$PWD/trace' -- '$cpid_program' "\$@"
END
chmod +x bin/cpid
PATH=$PWD/bin:$PATH

collect_start -F 100
await grep -q 'windows/s per CPU\|windows: not available' t.log
! grep -q 'windows: not available' t.log ||
	skip_all "no windows here: $(grep windows: t.log | tail -n 1)"
plan 6

has_windows()
{
	"$program" 300
	cpid_ask status >status.txt && [ "$(status_sum status.txt windows_stored)" -gt 0 ]
}

try 'there are windows' await has_windows
is "$(status_sum status.txt windows_received)" \
	"$(($(status_sum status.txt windows_stored) + $(status_sum status.txt windows_lost.)))" \
	'received = stored + lost'
try 'rights are given up' grep -q PR_SET_NO_NEW_PRIVS trace
ok "$([ "$(sed '/PR_SET_NO_NEW_PRIVS/,$d' trace | grep -c perf_event_open)" -gt 0 ]; echo $?)" \
	'events are opened before'
is "$(sed '1,/PR_SET_NO_NEW_PRIVS/d' trace | grep perf_event_open)" '' \
	'no event is opened afterwards'
collect_stop
