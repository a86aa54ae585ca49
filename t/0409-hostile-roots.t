#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs below a root directory that does not answer, on an overlay whose lower layer
# stopped answering, of files that cannot be closed, and on a slow file system: cpid goes
# on beside them.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need unshare timeout mount chroot
[ -w /dev/fuse ] || skip_all 'there is no FUSE here'
unshare -m true 2>/dev/null || skip_all 'no mount namespaces can be made here'
plan $((nr_stored_tests + 18))

stalling=$builddir/t/stalling_fs
mkdir files lower upper work merged
# One file for each case: cpid does not ask again about a file that it knows.
for name in root below flush later slow; do
	cp "$programs/burn_a" "$name.program"
	echo $name >>"$name.program"
done

# begin ARGUMENT...: a program on a file system of its own, by t/stalling_fs; sets $pid.
begin()
{
	rm -f said # the program before holds its own open
	mkfifo said
	unshare -m "$stalling" "$@" >said 2>begin.err &
	tap_pids="$tap_pids $!"
	read -r pid <said
	tap_pids="$tap_pids $pid"
	await has_begun
}

has_begun() { is_running || ! kill -0 "${pid:-0}" 2>/dev/null; }
is_running() { [ "$(cat "/proc/${pid:-0}/comm" 2>/dev/null)" = program ]; }
# Or it waits itself, for a page that cpid was the first to ask for.
has_computed() { awk '{ exit !($14 >= 20 || $3 == "D") }' "/proc/$pid/stat"; }
has_tried()
{
	timeout 300 "$peer" request t.sock status >tried.txt &&
		[ "$(status_sum tried.txt reads_timed_out)" -gt "$tried" ]
}

# others_go_on NAME: cpid answers, and attributes samples of new programs; 2 tests
nr_others=0
others_go_on()
{
	timeout 300 cpi status --all --socket t.sock >status.txt 2>&1
	ok $? "cpi status answers beside $1"
	note "$(grep '^read' status.txt | tr -s ' ' | tr '\n' ' ')"
	nr_others=$((nr_others + 1))
	cp "$programs/burn_b" "other_$nr_others"
	echo $nr_others >>"other_$nr_others"
	"./other_$nr_others" 400
	timeout 300 "$peer" request t.sock flush >/dev/null
	bound "$(samples "other_$nr_others" "*/other_$nr_others")" '>=' 100 \
		"samples of a program that begins beside $1 have its image"
}

collect_start -F 1000 --sweep 100ms

# Each request takes 50 ms. All of them take longer than cpid waits.
# The program runs for as long as this may take: without samples nobody asks for its file.
begin -d 50 files slow.program sh -c 'echo $$; exec files/program 200000'
is_known()
{
	timeout 300 "$peer" request t.sock flush >/dev/null
	[ "$(sql "SELECT count(*) FROM image WHERE name GLOB '*/files/program' AND
		size = $(stat -c %s slow.program)")" = 1 ]
}
await is_known
ok $? 'a program on a slow file system is read in the end'
timeout 300 cpi status --all --socket t.sock >status.txt 2>&1
ok $? 'cpi status answers beside a slow file system'
kill -KILL "$pid"

tried=$(cpid_field reads_timed_out)
begin -o root files root.program sh -c 'echo $$; exec chroot files /program 60000'
await has_computed
await has_tried
ok $? 'cpid gives up reading a root directory that does not answer'
others_go_on 'a root directory that does not answer'
kill -STOP "$pid"

tried=$(cpid_field reads_timed_out)
begin -o read -w silent lower below.program sh -c "echo \$\$; mount -t overlay -o \
	lowerdir=lower,upperdir=upper,workdir=work overlay merged && exec merged/program 60000"
if is_running; then
	await has_computed
	timeout 300 "$peer" request t.sock flush >/dev/null
	: >silent
	# Nothing of a new file is in memory.
	others_go_on 'an overlay that has stopped answering'
	kill -KILL "$pid"
	rm silent
	begin -o read lower below.program sh -c "echo \$\$; mount -t overlay -o \
		lowerdir=lower,upperdir=upper,workdir=work overlay merged && exec merged/program 60000"
	await has_computed
	await has_tried
	ok $? 'cpid gives up reading an overlay that does not answer'
	others_go_on 'an overlay that does not answer'
	kill -STOP "$pid"
else
	skip 5 "no overlay can be mounted here: $(head -n 1 begin.err)"
fi

# Closing a file can wait as well: at once, or later, when cpid closes an old file to open
# another one.
tried=$(cpid_field reads_timed_out)
begin -o flush files flush.program sh -c 'echo $$; exec files/program 60000'
await has_computed
await has_tried
ok $? 'cpid gives up closing a file that cannot be closed'
others_go_on 'a file that cannot be closed'
kill -STOP "$pid"
begin -o flush -w silent files later.program sh -c 'echo $$; exec files/program 60000'
await has_computed
timeout 300 "$peer" request t.sock flush >/dev/null
: >silent
for i in $(seq 120); do
	cp "$programs/burn_c" "many_$i"
	echo "$i" >>"many_$i"
	"./many_$i" 40 # where interrupts are dear, some would be without a sample in less
done
others_go_on 'an open file that cannot be closed later'
kill -STOP "$pid"

timeout 300 "$peer" request t.sock quit >/dev/null
cpid_wait
is "$cpid_status" 0 'cpid ends in good order beside all these programs'
check_stored
note "without content: $(sql "SELECT count(*) FROM image WHERE name GLOB '*/many_*' AND content = x''")"
note "$(sql "SELECT name, sum(n) FROM loss WHERE kind = 0 GROUP BY name" | tr '\n' ' ')"
# A file is read within 200 ms or not at all, and a busy machine may take longer.
bound "$(sql "SELECT count(*) FROM image WHERE name GLOB '*/many_*' AND content <> x''")" '>=' 110 \
	'nearly each of 120 new programs is read'
is "$(sql "SELECT count(*) FROM loss WHERE kind = 0 AND name NOT IN ('ambiguous', 'anonymous',
	'no_process', 'no_mapping', 'map_gap', 'special', 'kernel_unmapped')")" 0 \
	'each sample without an image has a reason'
