#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose files answer nobody: cpid goes on, and ends when it is told to.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need unshare timeout mount
[ -w /dev/fuse ] || skip_all 'there is no FUSE here'
unshare -m true 2>/dev/null || skip_all 'no mount namespaces can be made here'
plan $((nr_stored_tests + 10))

mkdir files lower upper work merged

# begin COMMAND...: in the background; sets $pid to what it says to be.
begin()
{
	rm -f said # the program before holds its own open
	mkfifo said
	"$@" >said 2>begin.err &
	tap_pids="$tap_pids $!"
	read -r pid <said
	tap_pids="$tap_pids $pid"
	is_running() { [ "$(cat "/proc/$pid/comm")" = program ]; }
	await 10 is_running
}

# answers NAME: to what needs the program's samples.
has_computed() { [ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 20 ]; }
answers()
{
	await 120 has_computed
	timeout 120 "$peer" request t.sock flush >/dev/null
	ok $? "cpid answers beside $1"
	try 'while it runs' is_running
}

: >files/program # here; the other is mounted over it
collect_start -F 1000 --sweep 100ms
begin unshare -m "$builddir/t/stalling_fs" files "$programs/burn_a" \
	sh -c 'echo $$; exec files/program 60000'
answers 'a program whose file system does not answer'
first=$pid
timeout 120 cpi register --socket t.sock "$first" --base 0x401000 --size 4096 \
	--path "$PWD/files/program" --offset 4096 >register.out 2>&1
is $? 1 'its file cannot be compared'
like "$(cat register.out)" 'cannot compare' 'with the reason'
begin unshare -Urm "$builddir/t/stalling_fs" lower "$programs/burn_b" \
	sh -c "echo \$\$; mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work \
		overlay merged && exec merged/program 60000"
if is_running; then
	answers 'one that is below an overlay'
else
	skip 2 "no overlay can be mounted by a user here: $(head -n 1 begin.err)"
fi
cpid_ask quit >/dev/null
timeout 120 sh -c "while kill -0 $cpid_pid 2>/dev/null; do sleep 0.1; done"
ok $? 'cpid ends beside them'
kill -KILL "$first" "$pid"
cpid_wait
is "$cpid_status" 0 'in good order'
check_stored
bound "$(samples program '*/program')" '>=' 100 'their samples are stored, by name'
is "$(sql "SELECT count(*) FROM loss WHERE name NOT IN ('ambiguous', 'anonymous',
	'no_process', 'no_mapping', 'map_gap', 'special', 'kernel_unmapped')")" 0 \
	'and the rest has its reason'
