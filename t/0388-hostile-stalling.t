#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs on file systems that never answer: cpid goes on, and ends when it is told to.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need unshare timeout mount
[ -w /dev/fuse ] || skip_all 'there is no FUSE here'
unshare -m true 2>/dev/null || skip_all 'no mount namespaces can be made here'
plan $((nr_stored_tests + 10))

mkdir files lower upper work merged
# Other users run these, so they must not be below a folder that only root may enter.
chmod 711 .
cp "$builddir/t/stalling_fs" "$programs/burn_a" "$programs/burn_b" .
chmod 755 stalling_fs burn_a burn_b

# begin COMMAND...: in the background; sets $pid to the process id that it prints.
begin()
{
	rm -f said # the program before holds its own open
	mkfifo said
	"$@" >said 2>begin.err &
	tap_pids="$tap_pids $!"
	read -r pid <said
	tap_pids="$tap_pids $pid"
	is_running() { [ "$(cat "/proc/$pid/comm")" = program ]; }
	has_begun() { is_running || ! kill -0 "$pid" 2>/dev/null; }
	await has_begun
}

# answers NAME: cpid answers a flush, which needs the program's samples; 2 tests
# Or it waits itself, for a page that cpid was the first to ask for.
has_computed() { awk '{ exit !($14 >= 20 || $3 == "D") }' "/proc/$pid/stat"; }
answers()
{
	await has_computed
	timeout 300 "$peer" request t.sock flush >/dev/null
	ok $? "cpid answers beside $1"
	try "the program runs meanwhile: $1" is_running
}

: >files/program # in this namespace; in the other one the file system hides it
collect_start -F 1000 --sweep 100ms
begin unshare -m ./stalling_fs files ./burn_a \
	sh -c 'echo $$; exec files/program 60000'
answers 'a program whose file system does not answer'
first=$pid
timeout 300 cpi register --socket t.sock "$first" --base 0x401000 --size 4096 \
	--path "$PWD/files/program" --offset 4096 >register.out 2>&1
is $? 1 'cpi register fails if the file cannot be read'
like "$(cat register.out)" 'cannot compare' 'cpi register says that it cannot compare the file'
begin unshare -Urm ./stalling_fs lower ./burn_b \
	sh -c "echo \$\$; mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work \
		overlay merged && exec merged/program 60000"
if is_running; then
	answers 'a program whose overlay does not answer'
else
	skip 2 "no overlay can be mounted by a user here: $(head -n 1 begin.err)"
fi
cpid_ask quit >/dev/null
timeout 300 sh -c "while kill -0 $cpid_pid 2>/dev/null; do sleep 0.1; done"
ok $? 'cpid ends beside both programs'
kill -KILL "$first" "$pid"
cpid_wait
is "$cpid_status" 0 'cpid ends in good order'
check_stored
bound "$(samples program '*/program')" '>=' 100 'samples of both programs are stored with their image'
is "$(sql "SELECT count(*) FROM loss WHERE kind = 0 AND name NOT IN ('ambiguous', 'anonymous',
	'no_process', 'no_mapping', 'map_gap', 'special', 'kernel_unmapped')")" 0 \
	'each sample without an image has a reason'
